package console

import (
	"encoding/json"
	"math"
	"net/http"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// itemBody is all of an item: what a page shows of the item that is selected.
type itemBody struct {
	Item   itemView `json:"item"`
	Body   part     `json:"body"` // the payload, the arguments, or the a2ui of a response; short values first
	Text   *part    `json:"text,omitempty"`
	Edited *part    `json:"edited,omitempty"` // what replaced Body
	Final  *part    `json:"final,omitempty"`  // what replaced Text
	Result *part    `json:"result,omitempty"`
	Write  *editing `json:"write,omitempty"` // of an item that is asked for whole
}

// part is text to show, or the beginning of it.
type part struct {
	Text string `json:"text"`
	Size int    `json:"size"` // bytes of all of it
	Cut  bool   `json:"cut,omitempty"`
}

// editing is what an edit begins with.
type editing struct {
	Text   string  `json:"text,omitempty"`   // of a response
	JSON   string  `json:"json,omitempty"`   // the payload, the arguments, or the a2ui of a response
	Fields []field `json:"fields,omitempty"` // the same, if it is flat enough for a form
}

// firstLook is how many bytes of a body are sent before somebody asks for all of it.
const firstLook = 64 << 10

// item answers with the bodies of one item: ?id=…, and with &all=1 each of them whole.
func (c *Console) item(_ http.ResponseWriter, r *http.Request, _ visitor) (any, error) {
	it, ok := c.cfg.Session.Item(r.URL.Query().Get("id"))
	if !ok {
		return nil, problem{"missing", "the session no longer has this item; its run ended long ago"}
	}
	return c.bodies(it, r.URL.Query().Get("all") == "1"), nil
}

func (c *Console) bodies(it gate.Item, all bool) itemBody {
	limit := firstLook
	if all {
		limit = math.MaxInt
	}
	text := func(s string) *part { return &part{shown(s, limit), len(s), len(s) > limit} }
	value := func(v json.RawMessage) *part {
		if v == nil {
			return nil
		}
		s := pretty(v)
		return &part{head(s, limit), len(s), len(s) > limit}
	}
	out := itemBody{Item: showItem(it, c.cfg.Message), Result: value(it.Result)}
	words, body, edited := "", it.Body, it.Edited
	if it.Kind == gate.Response {
		words, body = answerOf(it.Body)
		out.Text = text(words)
		if it.Edited != nil {
			var final string
			final, edited = answerOf(it.Edited)
			out.Final = text(final)
		}
	}
	if it.Status == gate.Pending && body != nil {
		out.Body = *value(shortFirst(body))
	} else if body != nil {
		out.Body = *value(body) // in the order of what replaced it
	}
	out.Edited = value(edited)
	if all {
		out.Write = &editing{Text: typable(words)}
		if body != nil {
			out.Write.JSON = pretty(body)
		}
		if it.Kind != gate.Response {
			out.Write.Fields = c.fields(it)
		}
	}
	return out
}
