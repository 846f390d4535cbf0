package classify

// sieve is what may stand in one place of a phrase: a bit for each kind of token that is no plain word, and one for
// each word, which it shares with others. So a sieve lets all through that matches, and some that does not.
type sieve uint64

const (
	numberSieve sieve = 1 << iota // a number above zero
	ratioSieve                    // 12/12, 3/12
	codeSieve                     // code, or speech
	tailSieve                     // a word by its ending
	tokenSieve                    // any token but code
	kindBits    = iota

	anySieve = ^sieve(0) // anything, the end of the sentence too
)

func wordSieve(id wordID) sieve {
	return 1 << (kindBits + uint64(uint32(id)*0x9E3779B1)*(63-kindBits)>>32)
}

// sieve returns the bits of a token, any of which a sieve must have to let it through.
func (t *token) sieve() sieve {
	if t.kind == codeToken {
		return codeSieve
	}
	bits := tokenSieve
	if t.id != 0 {
		bits |= wordSieve(t.id)
	}
	if t.tail != 0 {
		bits |= tailSieve
	}
	switch t.kind {
	case numberToken:
		bits |= numberSieve
	case fullToken, partToken:
		bits |= ratioSieve
	}
	return bits
}

// endSieve is the end of the sentence, which only anySieve lets through.
const endSieve = sieve(1) << 63

// sieveAt returns what may stand in place n, from 0, of what elems match.
func (lex *lexicon) sieveAt(elems []element, n int) sieve {
	if len(elems) == 0 {
		return anySieve
	}
	e, rest := &elems[0], elems[1:]
	if e.gap {
		return anySieve
	}
	var bits sieve
	for _, run := range lex.several(e) {
		bits |= lex.sieveOfRun(run, rest, n)
	}
	if e.opt {
		bits |= lex.sieveAt(rest, n)
	}
	if n > 0 {
		return bits | lex.sieveAt(rest, n-1)
	}
	bits |= lex.choices[e.from].sieve
	if e.num {
		bits |= numberSieve
	}
	if e.full || e.part {
		bits |= ratioSieve
	}
	if e.code {
		bits |= codeSieve
	}
	if e.tail != 0 {
		bits |= tailSieve
	}
	if e.any {
		bits |= tokenSieve
	}
	return bits
}

// sieveOfRun returns what may stand in place n of the words of run, which rest follows.
func (lex *lexicon) sieveOfRun(run []wordID, rest []element, n int) sieve {
	if n < len(run) {
		return wordSieve(run[n])
	}
	return lex.sieveAt(rest, n-len(run))
}
