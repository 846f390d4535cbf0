package console

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// itemBody is all of an item: what a page shows of the one that is selected.
type itemBody struct {
	Item   itemView  `json:"item"`
	Body   part      `json:"body"` // the payload, the arguments, or the a2ui of a response
	Text   *part     `json:"text,omitempty"`
	Edited *part     `json:"edited,omitempty"` // what replaced Body
	Final  *part     `json:"final,omitempty"`  // what replaced Text
	Result *part     `json:"result,omitempty"`
	Write  *writable `json:"write,omitempty"` // of a response that is asked for whole
}

// part is text to show, or the beginning of it.
type part struct {
	Text string `json:"text"`
	Size int    `json:"size"` // bytes of all of it
	Cut  bool   `json:"cut,omitempty"`
}

// writable is the text of a response to begin an edit with.
type writable struct {
	Text    string `json:"text"`
	Without int    `json:"without,omitempty"` // characters left out since nobody could see them
}

// firstLook is how many bytes of a body are sent before somebody asks for all of it.
const firstLook = 64 << 10

// item answers with the bodies of one item: ?id=…, and with &all=1 each of them whole.
func (c *Console) item(w http.ResponseWriter, r *http.Request, _ visitor) {
	it, ok := c.cfg.Session.Item(r.URL.Query().Get("id"))
	if !ok {
		refuse(w, http.StatusNotFound, "unknown", "the session has no such item any more; its run ended long ago")
		return
	}
	all, _ := strconv.ParseBool(r.URL.Query().Get("all"))
	answer(w, http.StatusOK, c.bodies(it, all))
}

func (c *Console) bodies(it gate.Item, all bool) itemBody {
	limit := firstLook
	if all {
		limit = int(^uint(0) >> 1)
	}
	text := func(s string) *part {
		p := part{Text: shown(s, limit), Size: len(s), Cut: len(s) > limit}
		return &p
	}
	value := func(v json.RawMessage) *part {
		if v == nil {
			return nil
		}
		s := pretty(v)
		p := part{Text: head(s, limit), Size: len(s), Cut: len(s) > limit}
		return &p
	}
	out := itemBody{Item: showItem(it, c.cfg.Message), Result: value(it.Result)}
	if it.Kind != gate.Response {
		out.Body = *value(it.Body)
		out.Edited = value(it.Edited)
		return out
	}
	words, a2ui := answerOf(it.Body)
	out.Text = text(words)
	if p := value(a2ui); p != nil {
		out.Body = *p
	}
	if it.Edited != nil {
		words, a2ui := answerOf(it.Edited)
		out.Final, out.Edited = text(words), value(a2ui)
	}
	if all {
		t, without := typable(words)
		out.Write = &writable{t, without}
	}
	return out
}
