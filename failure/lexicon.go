package failure

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// concept is a set of things that words in a message about a failed call may mean.
type concept uint64

// The subjects of a clause, and what it may say about them.
const (
	ofMoney concept = 1 << iota
	ofQuota
	ofRate
	ofContext
	ofText
	ofRequest
	ofTokens
	ofAccount
	ofOutput
	ofAnswer
	ofImage
	ofModel
	ofAbility
	ofLogin
	ofCredential
	ofPermission
	ofContent
	ofStream
	ofNetwork
	ofHost
	ofTLS
	ofURL
	ofRegion
	ofServer
	ofStop
	ofMachine
	ofCapacity
	ofData
	ofInput
	ofPlace
	ofPage
	ofConfig
	ofUpgrade

	isLacking
	isEmpty
	isUnset
	isExceeded
	isLong
	isGone
	isDenied
	isBlocked
	isWrong
	isUnsupported
	isFailed
	isMalformed
	isBroken
	isDown
	isRule
	isCut
	isBusy
	isLate
	isViolated
	isAsked
	isPassing
	perMinute
	perDay
	aLimit
	isPrefix
	isAway
	isRefusing

	isBad = isWrong | isUnsupported | isFailed
)

// meaning is what is known of a word: its own meaning, and the phrases that end with it.
type meaning struct {
	is      concept
	phrases []phrase
}

// phrase is two or three words that mean something together.
type phrase struct {
	before []pattern // the words before the last
	text   string
	is     concept
}

// pattern is a word, the beginning of one or the end of one.
type pattern struct {
	text string
	star byte // where other letters may stand: 0 nowhere, '<' before it, '>' after it
}

func patternOf(entry string) pattern {
	if stem, isStem := strings.CutSuffix(entry, "*"); isStem {
		return pattern{stem, '>'}
	}
	if ending, isEnding := strings.CutPrefix(entry, "*"); isEnding {
		return pattern{ending, '<'}
	}
	return pattern{text: entry}
}

func (p pattern) fits(word string) bool {
	switch p.star {
	case '>':
		return strings.HasPrefix(word, p.text)
	case '<':
		return strings.HasSuffix(word, p.text)
	}
	return word == p.text
}

// thesaurus holds the words of meanings in the form in which they are looked up.
type thesaurus struct {
	words    wordTable
	of       map[string]meaning // meanings by stem
	stems    stemTable          // the same in the form in which they are looked up
	endings  []tagged           // the last parts of German compound words
	unparted []tagged           // words looked for inside text that is written without spaces
}

// lexicon is built when a message is first read word by word: most programs that import this
// package see no failure on most days, and should not pay for it at startup.
var lexicon = sync.OnceValue(func() *thesaurus {
	return newThesaurus(meanings(), moreMeanings(), centralMeanings(), easternMeanings(), southernMeanings())
})

func newThesaurus(tables ...map[concept]string) *thesaurus {
	t, words := &thesaurus{of: map[string]meaning{}}, map[string]meaning{}
	all := map[string]concept{}
	for _, meanings := range tables {
		for is, list := range meanings {
			for entry := range strings.SplitSeq(list, ",") {
				all[plainLetters(strings.Join(strings.Fields(entry), " "))] |= is
			}
		}
	}
	forms := map[string]concept{}
	for entry, is := range all {
		for _, form := range formsOf(entry, is) {
			if all[form] == 0 {
				forms[form] |= is
			}
		}
	}
	maps.Copy(all, forms)
	for _, entry := range slices.Sorted(maps.Keys(all)) {
		t.add(words, entry, all[entry])
	}
	for _, word := range slices.Sorted(maps.Keys(words)) {
		t.words.add(word, words[word])
	}
	stems := slices.SortedFunc(maps.Keys(t.of), func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	for _, stem := range stems { // a longer stem also means what a shorter one means
		for n := len(stem) - 1; n >= minStem; n-- {
			if shorter, ok := t.of[stem[:n]]; ok {
				t.of[stem] = t.of[stem].with(shorter)
				break
			}
		}
		t.stems.add(stem, t.of[stem])
	}
	return t
}

// minStem is the shortest stem, in bytes.
const minStem = 3

// add adds an entry, to words if it is one: a word, a stem ("exced*"), an ending ("*verbindung"), or two or three words,
// each of which may be a stem.
func (t *thesaurus) add(words map[string]meaning, entry string, is concept) {
	parts := strings.Fields(entry)
	last := parts[len(parts)-1]
	known := meaning{is: is}
	if len(parts) > 1 {
		p := phrase{text: strings.ReplaceAll(entry, "*", ""), is: is}
		for _, part := range parts[:len(parts)-1] {
			p.before = append(p.before, patternOf(part))
		}
		known = meaning{phrases: []phrase{p}}
	}
	stem, isStem := strings.CutSuffix(last, "*")
	switch {
	case isUnparted(entry) && !strings.Contains(entry, "*"):
		t.unparted = append(t.unparted, tagged{text: entry, is: is})
	case strings.HasPrefix(last, "*"):
		t.endings = append(t.endings, tagged{text: last[1:], is: is})
	case isStem:
		t.of[stem] = t.of[stem].with(known)
	default:
		words[last] = words[last].with(known)
	}
}

func (m meaning) with(other meaning) meaning {
	return meaning{m.is | other.is, slices.Concat(m.phrases, other.phrases)}
}

// ending gives the meaning of the last part of a German compound word: Internetverbindung.
func (t *thesaurus) ending(word string) concept {
	if len(word) < minJoined {
		return 0
	}
	for _, known := range t.endings {
		if strings.HasSuffix(word, known.text) {
			return known.is
		}
	}
	return 0
}

// minJoined is the shortest word that may be a compound, in bytes.
const minJoined = 9

// plainLetters is word, in lower case, without accents, since people in a hurry leave them out, and
// with simplified characters for traditional ones.
func plainLetters(word string) string {
	for i := 0; i < len(word); i++ {
		if word[i] >= utf8.RuneSelf {
			return unmarkedLetters.Replace(word)
		}
	}
	return word
}

var unmarkedLetters = strings.NewReplacer(
	"à", "a", "á", "a", "â", "a", "ã", "a", "ä", "a", "å", "a", "ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e", "ì", "i", "í", "i", "î", "i", "ï", "i",
	"ñ", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o", "ö", "o", "ù", "u", "ú", "u", "û", "u", "ü", "u", "ý", "y", "ß", "ss", "œ", "oe", "ё", "е",

	// Traditional characters, each followed by the simplified one that the tables use.
	"額", "额", "餘", "余", "網", "网", "請", "请", "過", "过", "於", "于", "頻", "频", "無", "无", "連", "连", "線", "线", "務", "务", "檢", "检", "鑰", "钥", "錯", "错", "誤", "误", "權", "权",
	"驗", "验", "證", "证", "長", "长", "內", "内", "違", "违", "規", "规", "載", "载", "參", "参", "數", "数", "應", "应", "儲", "储", "帳", "账", "戶", "户", "斷", "断", "備", "备", "訪", "访",
	"問", "问", "絕", "绝", "認", "认", "識", "识", "別", "别", "輸", "输", "處", "处", "關", "关", "閉", "闭", "開", "开", "啟", "启", "設", "设", "沒", "没", "費", "费", "試", "试", "間", "间",
	"時", "时", "後", "后", "動", "动", "進", "进", "單", "单", "項", "项", "爲", "为", "為", "为", "對", "对", "話", "话", "歷", "历", "訊", "讯", "體", "体", "統", "统", "這", "这", "個", "个",
	"達", "达", "還", "还", "須", "须", "導", "导", "結", "结", "際", "际", "環", "环", "組", "组", "織", "织", "總", "总", "選", "选", "擇", "择", "題", "题", "難", "难", "據", "据", "換", "换",
	"寫", "写", "減", "减", "與", "与", "並", "并", "讀", "读", "聯", "联", "絡", "络", "態", "态", "壓", "压", "縮", "缩", "調", "调", "點", "点", "維", "维", "護", "护", "復", "复", "傳", "传",
	"審", "审", "號", "号", "碼", "码", "詞", "词", "級", "级", "準", "准", "離", "离", "輯", "辑", "響", "响", "慮", "虑", "隊", "队", "彙", "汇", "標", "标", "籤", "签", "種", "种", "類", "类",
	"從", "从", "終", "终", "隱", "隐", "險", "险", "層", "层", "屬", "属", "實", "实", "現", "现", "當", "当", "兩", "两", "會", "会", "員", "员", "億", "亿", "價", "价", "許", "许", "訂", "订",
	"詢", "询", "該", "该", "誰", "谁", "課", "课", "譯", "译", "貴", "贵", "買", "买", "賣", "卖", "購", "购", "質", "质", "趕", "赶", "軟", "软", "轉", "转", "輪", "轮", "輕", "轻", "較", "较",
	"辦", "办", "農", "农", "邊", "边", "郵", "邮", "釋", "释", "針", "针", "鎖", "锁", "鏈", "链", "閱", "阅", "陸", "陆", "階", "阶", "隨", "随", "雙", "双", "雜", "杂", "雲", "云", "電", "电",
	"靜", "静", "頁", "页", "順", "顺", "預", "预", "領", "领", "頭", "头", "顯", "显", "風", "风", "飛", "飞", "驅", "驱",
	"圖", "图", "檔", "档", "區", "区", "積", "积", "盡", "尽", "帶", "带", "寬", "宽", "憑", "凭", "異", "异", "變", "变", "優", "优", "協", "协", "擋", "挡", "獲", "获", "嘗", "尝", "臨", "临", "業", "业", "產", "产",
	"創", "创", "執", "执", "報", "报", "壞", "坏", "夠", "够", "尋", "寻", "強", "强", "擁", "拥", "擴", "扩", "敗", "败", "暫", "暂", "極", "极", "構", "构", "樣", "样", "機", "机", "毀", "毁", "決", "决", "況", "况",
	"測", "测", "滿", "满", "濾", "滤", "發", "发", "監", "监", "確", "确", "稱", "称", "穩", "稳", "簡", "简", "約", "约", "給", "给", "經", "经", "綁", "绑", "緩", "缓", "編", "编", "續", "续", "脫", "脱", "舊", "旧",
	"術", "术", "衝", "冲", "裝", "装", "複", "复", "見", "见", "視", "视", "觸", "触", "計", "计", "詳", "详", "語", "语", "說", "说", "論", "论", "負", "负", "資", "资", "運", "运", "遠", "远", "適", "适", "遲", "迟",
	"鍵", "键", "飽", "饱",
)
