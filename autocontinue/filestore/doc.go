// Package filestore keeps the state of sessions in a folder, for processes that live for one call: a stop hook, a line
// of a shell script. Any number of them may use the folder at once.
//
// Start with [New]. The [Store] is an [autocontinue.Store]. [NewDocument] keeps a value of your own in the same folder,
// by the same rules. [Store.Journal] is a file to which each process appends its lines; [ReadJournal] reads it.
// [WriteFile] replaces any other file as a whole.
//
// # The folder
//
//	sessions/9f/9f86d081884c7d65….json   a session: named by a hash of host and session
//	KIND/…/….json                        documents of that kind
//	journal.jsonl, journal.1.jsonl       the journal, and the one before it, which grew too large
//	aside/TIME-KIND-….json               what could not be read, at most 8 of them
//	locks/00 … locks/3f, locks/journal   empty files that processes lock
//
// Folders have mode 0700 and files 0600. A file is replaced as a whole: it is written under another name, synced and
// renamed. Wherever a process is killed, there is the old file or the new one. A loss of power may lose the latest
// update. With [Options].NoSync, which is faster, it may also leave a file that is then set aside.
//
// A lock ends with its process, kill -9 included. Sessions share 64 locks, so two sessions seldom wait for each other.
//
// # Age
//
// A session that nobody used for [Options].MaxAge is removed. Its last use is the date of its file. Each new session
// looks at a few files of its own folder, one of 256. A wrong clock removes nothing that is in use: a session must look
// too old twice, with a day between the two looks, and a use in between keeps it.
//
// # What cannot be read
//
// An update moves a file that no version of this package can have written to aside, tells [Options].OnSetAside, and
// starts the session afresh: a file that was cut short, is not JSON, belongs to another session, is not a regular file,
// or is larger than 1 MiB. A host that knows more than an empty session sets [autocontinue.Output].Continues or Hold.
//
// A file of a newer version stays where it is. It is an error that wraps [autocontinue.ErrStateVersion].
//
// # Limits
//
// Locks are those of flock, on Windows of LockFileEx. On a network file system they are as good as it is. A folder that
// everybody may write to is refused. Inside the folder, a link in place of a file is set aside, and none leads out.
//
// # Errors
//
// [autocontinue.ErrUnavailable] is a folder, or a file in it, that cannot be used. It wraps what the system said, such
// as syscall.ENOSPC or [fs.ErrPermission]. [autocontinue.ErrConflict] is a lock that was not free within
// [Options].LockTimeout. [ErrTooLarge] is a value that does not fit. After any error nothing was written.
package filestore
