package main

import (
	"testing"
)

func TestLooks(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.picture("empty")
	p.say("Please import my weights of this week")
	p.has("#card", "Approve and send")
	p.picture("staged-light")
	p.press("a")
	p.has("#card", "weight_save_batch")
	p.picture("tool-light")
	p.press("e")
	p.wait(`document.querySelector("#edit-body")`)
	p.write("#edit-body", p.eval(`document.querySelector("#edit-body").value.replace("722", "72.20")`))
	p.has(".diff", "72.20")
	p.picture("edit-light")
	p.look(1280, 800, true)
	p.picture("edit-dark")
	p.look(390, 844, true)
	p.picture("edit-phone-dark")
	p.look(390, 844, false)
	p.picture("edit-phone")
}
