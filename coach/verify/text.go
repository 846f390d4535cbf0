package verify

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

func line(s string, max int) string {
	return plaintext.Line(plaintext.Disarm(plaintext.Redact(s)), max)
}
func clean(s string) string { return line(s, 300) }
func code(s string) string  { return "`" + strings.ReplaceAll(line(s, 80), "`", "'") + "`" }
func fold(s string) string  { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// firstThree names the first three of a list, and says how many more there are.
func firstThree(list []string) string {
	s := clean(strings.Join(list[:min(len(list), 3)], ", "))
	if more := len(list) - 3; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// Sentence begins with a capital letter, unless with code, and ends with a full stop.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimRight(s[1:], ".") + "."
}

//go:embed lexicon.txt
var lexiconText string

// lex returns the lists of words and the patterns of lexicon.txt, by their names. The first call reads the file.
var lex = lazy.Load[lexicon](lexiconText)

type lexicon struct {
	Make, Edit, Drop, Move, Place, Determiners, AddedWords, ModifiedWords, RemovedWords, LintTools, BuildTools,
	TestTools, HarmlessOptions, Compiled, NumberWords, Vague, Plain, Means, Extensions, BareNames, Products,
	ChangedKeys, AddedKeys, RemovedKeys, CommitKeys, NewTestKeys, TestKeys, ConcernKeys, SilentKeys, CountKeys,
	RunKeys, PassedWords, FailedWords, NoneWords []string
	Fixes map[string]string
	Rewritten, Absent, Pushed, Standing, Outwards, TestsMentioned, NoAdmission, GoneMentioned, SkipMentioned, AnyVerb,
	LastVerb, PlaceWord, InBracket, Mention, Elsewhere, AsPart, Passive, FromTo, ClearEnd, Label, NewFile, GoneFile,
	FileNoun, Loose, SaysUnchanged, Doing, FolderGone, FolderMade, TestName, NoTest, NamesBehind, Quoted, IdentName,
	AboutTest, CodeLine, TestGone, CommitNamed, CommitItem, CommitDone, CommitBlamed, CommitOther,
	OtherDone, TreeClean, NoDependency, TestsUntouched, NumberWord, TestThing, NameMade, NameRenamed, BareRenamed,
	NameDropped, NoName, NoNameBehind, InPath, Passed, Unlike, Alias, NameGone, GoneBehind, RidOf, FileMoved, FolderTo,
	FilesChanged, DocumentHas, Admitted, CodeName, DebugGone, TakenBack, OnlyPart, Formatting, Commenting,
	NewTests, DoneNow, OnlyThis, Unchanged, Program, Succeeds, Fails, HarmlessFailure, AllPass, TestsPass, OfPass,
	Numbers, Labelled, NumberOfTests, Partly, Except, BuildWord, LintWord, TestSubject, OtherThings, OnlyCounts,
	ResultNumber, StandsAt, BesideKey, Names, MdLink, LineSuffix, PathShape, AnyPath, ListSeparator, AfterPath,
	OpenBox, ListMark, SentenceEnd, TitleLine, HeadFiles, TitleSilent, TitleNot, TitleConcerns, TitleChange, TitleDone,
	TitleLater, UnchangedPart, EmptyDiff, KeptBehind, KeptBefore, PartOf, AllBack, ForAWhile, NoNewFile, FileCount,
	Branch, OtherBranch, CommitCount, CommitHolds, InGit, IgnoredMentioned, CodeKind, Uncovered, Unseen, NowIn,
	Alternative, SaysChange, NoClaim, AsBefore, EndCommand, OfAll, RanIt, PartEnd, Document, Negated,
	Condition, Omitted, ChangedFrom, Measure, Thousands, Hash, FailedBefore, Kept, ItsTests, TestsCover, FailingTests,
	Story, Without, NoFunctional, TestGoneWord, TestAffix, StillSo, CallOf, SuiteFails, FailureTold, TestsBeside,
	NewOfTests, Qualifier, Literal, OnBranch, NotCommitted, NotYet, WithTests, SaysGone, OldValue, HTTPMethod,
	NewValue, TableRule, Word, QuotedText, Replaced, OtherTests, ErrorWord, Supposed, Denied, Earlier, Undone,
	ClauseEnd, Spans, CommitHash *lazy.Pattern
}
