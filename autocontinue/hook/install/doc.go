// Package install puts the stop hook into the settings of the programs that run agents, and takes it out again.
//
// Start with a [Hook]. [Hook.Snippet] is the settings for a host that has no others, for a person to copy. [Hook.Merge]
// puts the hook into settings that a person wrote, before what is there, and [Hook.Remove] takes it out. Everything
// else in these settings stays as it is, to the byte.
//
// # Limits
//
// Merge is for settings that are [Hook.Writable]. Codex wants to show each hook before it trusts it, and the settings
// of Cursor and Copilot CLI are printed for the human to save. The command lines and file names are those of November
// 2026, from the hosts' own documentation and sources.
//
// # Errors
//
// Merge and Remove return an error for settings that they cannot change safely. Then nothing has to be written.
package install
