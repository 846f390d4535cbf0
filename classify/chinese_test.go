package classify

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Counted results are evidence in Chinese, too; bare claims, targets and failures are none.
func TestChineseEvidence(t *testing.T) {
	for _, text := range []string{
		"全部 12 个测试通过。", "12 项断言全部通过。", "运行了单元测试，28 个用例均通过。", "14/14 全部通过", "测试结果：通过 31 个，失败 0 个。", "通过 31，失败 0",
		"跑了 22 项断言（权限、分页、排序），全部通过。", "42 个测试用例全部跑通，耗时 3 秒", "執行結果：全部 64 個測試通過",
	} {
		assert.Contains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
	assert.Contains(t, judge(t, Input{Text: "重新执行脚本，退出码为 0。"}).Shown(nil), EvidenceExitCode)
	assert.Contains(t, judge(t, Input{Text: "访问首页，返回 200。"}).Shown(nil), EvidenceOutput)
	for _, text := range []string{
		"所有测试都通过了。", "目标：42 个测试全部通过。", "预期 18 个测试都会通过。", "12 个测试，3 个失败。", "通过 31 个，失败 2 个。", "通过 31，失败 2", "修复之后应该能让 12 个测试全部通过。",
	} {
		assert.NotContains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
}

func hasSignal(r Result, kind SignalKind, name string) bool {
	return slices.ContainsFunc(r.Signals, func(s Signal) bool { return s.Kind == kind && s.Name == name })
}

// What is denied, put off, asked or quoted is no claim.
func TestChineseClaims(t *testing.T) {
	for text, want := range map[string]bool{
		"登录问题已修复。": true, "已经全部完成。": true, "修复完成，请刷新页面。": true, "第 2 批已完成（3 个文件）。": true, "【结果】全部完成": true,
		"登录问题尚未修复。": false, "还没有全部完成。": false, "等问题修复后再合并。": false, "问题已修复了吗？": false, `弹窗里的"问题已修复"是写死的文案。`: false,
		"需要先完成迁移。": false, "已存在的用户不受影响。": false,
	} {
		r := judge(t, Input{Text: text})
		assert.Equal(t, want, hasSignal(r, SignalClaim, "done") || hasSignal(r, SignalClaim, "edit"), "%s %v", text, r.Signals)
	}
}

func TestChineseLayout(t *testing.T) {
	h := newHeuristic(t)
	names := func(text string) []string { return h.Features(Input{Text: text}) }
	for _, text := range []string{"改了两处：\n1、修复分页\n2、更新文档", "改了两处：\n1.修复分页\n2.更新文档", "改了两处：\n1）修复分页\n2）更新文档", "改了两处：\n1)修复分页\n2)更新文档"} {
		assert.Contains(t, names(text), "items", text)
	}
	assert.NotContains(t, names("版本号如下：\n1.5 版修复分页\n2.0 版更新文档"), "items")
	// What follows a full stop of full width is a block of its own.
	assert.Contains(t, names("分页参数的校验已经调整好，接口文档和示例代码也同步更新了一遍。\n`page` 从几开始，由哪一端决定？"), "ends:question")
}
