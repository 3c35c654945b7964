package failure

// chinese are the sentences of providers and gateways that answer in Chinese.
var chinese = []rule{
	{kind: KindOutputTruncated, status: []int{0, 200}, any: []string{"输出额度", "输出长度", "输出上限", "输出令牌"}, near: []string{"耗尽", "用尽", "用完", "截断"}},
	{kind: KindStreamInterrupted, status: []int{0, 200, 502}, any: []string{"流"}, near: []string{"未闭合", "未正常结束", "未正常关闭", "中断", "断开", "提前结束", "提前关闭", "意外结束", "意外关闭", "异常结束"}, unless: []string{"限流", "流量", "流程"}},
	{kind: KindMisconfigured, status: []int{0, 400, 404}, any: []string{"未知 provider", "未知的 provider", "未知provider", "未知供应商", "未知的供应商", "未知提供商", "未知的提供商", "未知服务商", "未知的服务商", "不支持的 provider", "不支持的供应商", "不支持的提供商", "不支持的服务商"}},
	{kind: KindQuota, status: metered, any: []string{"使用上限", "用量上限", "限额将在", "额度将在"}, near: []string{"重置", "恢复", "刷新"}, unless: []string{"每分钟"}},
	{kind: KindBilling, status: metered, any: []string{
		"余额不足", "余额不够", "余额已用", "余额耗尽", "余额为0", "欠费", "无可用资源包", "资源包已用", "额度不足", "预扣费", "套餐已到期", "套餐已过期", "套餐过期", "订阅已过期", "未开通付费",
	}},
	{kind: KindBilling, status: metered, any: []string{"请充值", "请及时充值", "请先充值", "充值后"}, unless: []string{"频率", "速率", "并发", "限流", "每分钟"}},
	{kind: KindQuota, status: metered, any: []string{
		"配额已用", "配额用尽", "配额耗尽", "额度已用", "额度用尽", "额度耗尽", "额度已耗尽", "免费额度", "使用上限", "次数已用完", "日限额", "月限额", "日调用量",
	}, unless: []string{"每分钟"}},
	{kind: KindQuota, status: []int{0, 402, 403, 429}, any: []string{"每日", "当日", "今日", "每天", "当天", "今天", "每周", "每月", "当月"}, near: []string{
		"上限", "限额", "限制", "用完", "用尽", "耗尽", "配额", "额度",
	}, unless: []string{"每分钟"}},
	{kind: KindContentFilter, any: []string{
		"敏感内容", "敏感信息", "敏感词", "不安全或敏感", "不安全内容", "违规内容", "内容违规", "内容安全", "不合规", "不当内容", "违法违规", "审核未通过", "未通过审核", "风险内容", "内容存在风险", "包含敏感", "策略阻止", "策略拦截",
	}},
	{kind: KindRateLimit, status: []int{0, 200, 400, 403, 429, 503}, any: []string{
		"请求过于频繁", "过于频繁", "频率限制", "频率超", "速率限制", "限流", "请求过多", "请求次数过多", "请求数过多", "请求频率", "调用频率", "并发数", "并发请求", "并发过", "并发超", "每分钟", "请求太多", "限速",
	}},
	{kind: KindOverloaded, any: []string{
		"负载已饱和", "负载过高", "负载较高", "过载", "服务器繁忙", "系统繁忙", "服务繁忙", "模型繁忙", "访问量过大", "访问量较大", "资源不足", "拥挤", "繁忙，请", "繁忙,请", "正在加载",
	}},
	{kind: KindContextOverflow, any: []string{
		"上下文长度", "上下文超", "上下文过长", "超出上下文", "超过上下文", "输入过长", "输入太长", "内容太长", "文本太长", "提示太长", "提示词太长", "对话太长", "消息太长", "上下文太长", "请求太长", "输入超长", "输入长度", "prompt 超长", "prompt超长", "文本过长", "内容过长", "超过最大长度", "超出最大长度", "最大上下文",
	}},
	{kind: KindModelNotFound, any: []string{"模型不存在", "模型未找到", "找不到模型", "不支持的模型", "模型不可用", "模型已下线", "模型名字错误", "模型名错误", "无可用渠道", "模型名称错误"}},
	{kind: KindModelNotFound, any: []string{"没有这个模型", "没有该模型", "无此模型", "无该模型"}, unless: []string{"权限", "访问"}},
	{kind: KindModelNotFound, status: []int{0, 400, 404}, any: []string{"api "}, near: []string{"已下线", "不存在"}},
	{kind: KindAuth, variant: "missing", status: refusing, any: []string{"未提供令牌", "未提供api", "未提供 api", "缺少api", "缺少 api", "缺少密钥", "未设置api", "未设置 api", "未配置api", "未配置 api"}},
	{kind: KindAuth, variant: "expired_login", status: refusing, any: []string{"令牌已过期", "token已过期", "token 已过期", "登录已过期", "登录过期"}},
	{kind: KindAuth, variant: "permission", any: []string{"未开放", "未开通", "未激活"}},
	{kind: KindAuth, variant: "permission", status: refusing, any: []string{"无权限", "没有权限", "无权访问", "权限不足", "账号已被", "账户已被"}},
	{kind: KindAuth, status: refusing, any: []string{
		"身份验证失败", "鉴权失败", "认证失败", "无效的令牌", "令牌无效", "无效的api", "无效的 api", "api key 无效", "api key无效", "apikey无效", "密钥无效", "密钥错误", "无效的密钥", "未授权",
	}},
	{kind: KindInvalidRequest, status: []int{0, 200, 400, 422}, any: []string{"参数有误", "参数错误", "参数非法", "参数不合法", "请求参数", "非法参数"}},
}

// looseChinese are Chinese words for failures where a status would be better evidence.
var looseChinese = []rule{
	{kind: KindUnreachable, any: []string{"积极拒绝", "无法连接", "连接被拒绝", "连接失败", "拒绝连接", "连接被重置", "强迫关闭了一个现有的连接", "不知道这样的主机", "网络错误", "网络异常", "网络不通", "网络不可用", "网络不可达"}},
	{kind: KindUnreachable, any: []string{"无法解析"}, unless: []string{"回答", "回复", "模型", "输出", "json", "返回", "响应", "参数"}},
	{kind: KindTimeout, any: []string{"超时"}},
	{kind: KindUnavailable, any: []string{"服务不可用", "暂时不可用", "内部错误", "服务异常", "系统错误", "系统异常", "服务器错误", "服务端错误", "一致性已被破坏"}},
}
