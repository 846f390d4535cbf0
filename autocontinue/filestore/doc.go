// Package filestore keeps what sessions remember in a folder, for processes that live for one call: a stop hook, a line of
// a shell script. Any number of them may use the folder at once.
//
// Start with [New]; the [Store] is an [autocontinue.Store]. [Store.Session] is the same file with room for what the host wants to
// remember beside the state, changed in the same step. [NewDocument] keeps a value of your own in the same folder, by the same
// rules. [Store.Journal] is a file to which each process appends its lines; [ReadJournal] and [FollowJournal] read it.
//
// # The folder
//
//	sessions/9f86d081884c7d65….json      a session: named by a hash of host and session
//	KIND/…json                           documents of that kind
//	journal.jsonl, journal.1.jsonl       the journal, and what it was before it grew too large
//	journal-late/TIME-….jsonl            a line that was written while another process held the journal's lock
//	aside/TIME-KIND-….json               what could not be read, at most 8 of them
//	locks/00 … locks/3f, locks/journal   empty; what is locked is told by the system, not by a file that is there
//
// Folders are made with mode 0700 and files with 0600. A file is replaced as a whole: it is written under another name,
// synced, renamed, and on Unix its folder is synced. Whatever a process is killed at, there is the old file or the new one;
// with [Options].NoSync, which is faster, that does not hold for a loss of power.
//
// A lock ends with its process, kill -9 included. Sessions share 64 locks, so that there is nothing to clean up and
// two sessions seldom wait for each other.
//
// A new file makes room: up to 16 files of its kind, picked at random, are looked at, and up to 4 removed, those that nobody has
// written for [Options].MaxAge and, where there are more than [Options].MaxFiles, the oldest. What is locked is left alone.
//
// # What cannot be read
//
// A file that no version of this package can have written (cut short, not JSON, another session's, no regular file, larger
// than 1 MiB) is moved to aside, [Options].OnSetAside is told, and the session starts afresh. So the guards of that turn
// are lost, which a host that knows better can make up for by [autocontinue.Output].Continues or Hold.
//
// A file of a newer version is left where it is, and is an error that wraps [autocontinue.ErrStateVersion]: two versions that are
// installed side by side must not take each other's counts away.
//
// # Limits
//
// Locks are flock's, on Windows LockFileEx's; on a system without either nothing can be stored. On a network file system
// they are as good as it is. A folder that everybody may write to is refused. A path to the folder may lead over
// symbolic links; inside it a link that stands for a file is set aside, and none leads out.
//
// # Errors
//
// [ErrDisk] is a folder that cannot be used: full, read-only, no rights, no folder. [ErrLocked] is a lock that was not
// had in time. Both wrap what the system said. [ErrTooLarge] is a value that does not fit. With any error nothing was written.
package filestore
