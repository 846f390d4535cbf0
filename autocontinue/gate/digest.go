package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// digest names a subject, its label aside. Every field stands after its length and the whole after a name of what is hashed,
// so that no two subjects, and nothing else that is hashed here, have the same bytes.
func digest(sub Subject) string {
	b := []byte("sidecoach gate subject 1\n")
	for _, field := range []string{string(sub.Kind), sub.Thread, sub.Run, sub.Call, sub.Tool} {
		b = appendText(b, field)
	}
	h := sha256.New()
	h.Write(append(strconv.AppendInt(b, int64(len(sub.Body)), 10), ':'))
	h.Write(sub.Body)
	return hex.EncodeToString(h.Sum(nil))
}

// likeness is the same for subjects of one run that ask for the same: other calls of a tool with arguments of the same
// value, however written.
func likeness(sub Subject) [sha256.Size]byte {
	b := appendText(appendText([]byte("sidecoach gate likeness 1\n"), string(sub.Kind)), sub.Tool)
	return sha256.Sum256(canonical(b, sub.Body, nil))
}
