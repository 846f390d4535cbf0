package gate

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// Point 8: what a human would not see is written out.

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, <b>äé漢字 😀 \\n":       "plain text, <b>äé漢字 😀 \\n",
		"a\x00b\x1b[31mc\x7f\u0085":       `a\x00b\x1b[31mc\x7f\u0085`,
		"a\nb\tc\r\n":                     `a\x0ab\x09c\x0d\x0a`,
		"safe\u202egpj.exe\u202c":         `safe\u202egpj.exe\u202c`,
		"\u2066x\u2069\u200e\u200f\u061c": `\u2066x\u2069\u200e\u200f\u061c`,
		"de\u200blete\u200c\u200d\u2060":  `de\u200blete\u200c\u200d\u2060`,
		"\ufeffx\u00ad\u180e":             `\ufeffx\u00ad\u180e`,
		"x\u2028y\u2029z":                 `x\u2028y\u2029z`,
		"x\u00a0y\u2003z\u3000":           `x\u00a0y\u2003z\u3000`,
		"x\U000e0041\U000e007f":           `x\U000e0041\U000e007f`,
		"x\ufe0f\U000e0100":               `x\ufe0f\U000e0100`,
		"\u115f\u3164\uffa0\u2800\u034f":  `\u115f\u3164\uffa0\u2800\u034f`,
		"\ue000\U0010ffff\ufff9":          `\ue000\U0010ffff\ufff9`,
		"a\xffb\xc3\xed\xa0\x80":          `a\xffb\xc3\xed\xa0\x80`,
		"\ufffd":                          "\ufffd",
		"":                                "",
	} {
		require.Equal(t, want, Visible(in), "%q", in)
	}
	require.Equal(t, "a\nb\tc\n\\x0dd\\u2028", VisibleLines("a\nb\tc\r\n\rd\u2028"))
}

func TestNothingUnseenIsLeft(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		bad := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Join_Control,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point) ||
			unicode.Is(unicode.Zs, r) && r != ' '
		got := Visible(string(r))
		if bad && got == string(r) {
			t.Errorf("%U is shown as it is", r)
		}
		for _, c := range got {
			if got != string(r) && (c < ' ' || c > '~') {
				t.Errorf("the escape of %U is no plain text", r)
			}
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"a\u202eb", "\xff\x00", "x\u200by", "漢字\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Visible(s)
		for _, r := range got {
			if hidden(r) {
				t.Fatalf("%q leaves %U", s, r)
			}
		}
		if Visible(got) != got {
			t.Fatalf("%q is not left as it is", got)
		}
	})
}
