// Package project answers one question: what has the human set for the project that an agent works in? There are two
// answers: the folder .sidecoach, which counts once the human has allowed its content, and the goal of the sessions.
//
// Start with [Open], on the store in which a hook keeps its sessions. [ReadFolder] reads a project's folder,
// [Projects.Allow] remembers a hash of its content, and [Projects.Folder] returns it only while it is unchanged.
// [Projects.SetGoal] gives the project a goal, [Projects.Begin] binds it to the session that the human starts next, and
// [Projects.Goal] returns the goal of a session.
//
// # Limits
//
// The agent can write to the folder of its project. Because of the hash, a change has no effect. Because the goal is a
// copy, a change of the plan has none either. [AgentIn] finds the environment of an agent, so that a command can refuse
// to give trust there. None of this stops an agent that means to cheat: it can do what the user can do.
//
// A folder has at most 1 MiB and 500 files, a goal at most 50 criteria. What nobody used for 30 days is forgotten, see
// package filestore.
//
// # Errors
//
// [ErrNotAllowed] and [ErrChanged] say why a folder does not count. Every other error is that of the file system or of
// the store.
package project
