package gitwitness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func TestStubs(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	base := r.commit("begin")
	r.write("cart.py", "class Cart:\n    def export_csv(self, path):\n        \"\"\"Writes it.\"\"\"\n        raise NotImplementedError\n\n"+
		"    def close(self): pass\n\n    def total(self):\n        if self.close():\n            pass\n        return 1\n")
	r.write("parse.rs", "pub fn float(_s: &str) -> f64 {\n    todo!()\n}\npub fn int(s: &str) -> i64 {\n    s.parse().unwrap()\n}\n")
	r.write("void.go", "package a\n\nfunc (l *L) Void(\n\tn int,\n) error {\n\tpanic(\"not implemented\")\n}\n\nfunc Use() { new(L).Void(1) }\n")
	r.write("x.js", "export const later = (a) => {\n  throw new Error('Not implemented');\n};\nexport function soon(a) { return later(a); }\n")
	r.write("base.py", "class Base:\n    def read(self):\n        raise NotImplementedError\n\n\nclass File(Base):\n    def read(self):\n"+
		"        return 1\n")
	want := map[string]bool{"export_csv": true, "close": true, "total": false, "float": true, "int": false, "Void": true,
		"Use": false, "later": true, "soon": false, "read": false}
	q := verify.Query{Baseline: base}
	for name := range want {
		q.Names = append(q.Names, name)
	}
	facts := r.look(q)
	for _, n := range facts.Names {
		require.Equal(t, want[n.Name], n.Stub, n.Name)
	}
}
