package failure

import (
	"maps"
	"slices"
	"strings"
)

// concept is a set of things that words may mean in a message about a failed call.
type concept uint64

// What a clause may be about, and what it may say of that.
const (
	ofMoney concept = 1 << iota
	ofQuota
	ofRate
	ofContext
	ofOutput
	ofImage
	ofModel
	ofAbility
	ofLogin
	ofPermission
	ofContent
	ofStream
	ofNetwork
	ofServer
	ofStop
	ofMachine
	ofCapacity
	ofData
	ofInput

	isLacking
	isExceeded
	isLong
	isGone
	isDenied
	isWrong
	isFailed
	isMalformed
	isBroken
	isBusy
	isLate
	isViolated
	isAsked
	isPassing
	perMinute
	perDay
	aLimit

	isBad = isWrong | isFailed
)

// meanings are the words and phrases of each concept, in lower case, without apostrophes and
// parted by commas: English, German, French, Spanish, Portuguese, Russian, Chinese, Japanese,
// Korean.
var meanings = map[concept]string{
	ofMoney: `balance, credit, credits, fund, funds, budget, payment, payments, subscription, billing, invoice, wallet, prepaid, recharge, spend, spending, money, purchase,
		guthaben, zahlung, abrechnung, abonnement, abo, solde, crédit, crédits, paiement, facturation, saldo, crédito, créditos, pago, facturación, suscripción, fondos,
		pagamento, faturamento, assinatura, fundos, баланс, баланса, балансе, средств, оплата, оплаты, кредитов, подписка, подписки,
		余额, 残高, クレジット, 支払い, 課金, 잔액, 크레딧, 결제`,
	ofQuota: `quota, quotas, usage, allowance, usage limit, kontingent, nutzungslimit, cuota, cota, квота, квоты, квоту, лимит, limite utilisation, límite de uso, limite de uso,
		配额, 额度, クォータ, 利用枠, 利用制限, 使用量, 할당량, 사용량, 쿼터`,
	ofRate: `requests, rpm, tpm, rpd, qps, throughput, concurrency, rate limit, rate limits, request rate, call frequency, too many requests, anfragen, anfragelimit, ratenlimit, requêtes, solicitudes,
		peticiones, solicitações, requisições, запросов, 请求频率, 请求数, 并发, 频率, リクエスト数, レート制限, レート, 요청 수, 요청 횟수, 요청이, 속도 제한`,
	ofContext: `context, prompt, tokens, input, conversation, messages, kontext, kontextfenster, kontextlänge, eingabe, contexte, contexto, entrada, entrée, контекст, контекста, контекстное, токенов, ввод,
		запрос слишком, 上下文, 输入, 提示词, コンテキスト, 入力, プロンプト, トークン, 컨텍스트, 입력, 프롬프트, 토큰`,
	ofOutput:  `output, completion, max tokens, max output, max completion, max new, ausgabe, sortie, salida, saída, 输出, 出力, 출력`,
	ofImage:   `image, images, audio, video, file, files, pdf, document, picture, bild, imagen, imagem, изображение, 图片, 画像, 이미지`,
	ofModel:   `model, models, entity, deployment, modell, modèle, modelo, модель, модели, 模型, モデル, 모델`,
	ofAbility: `tool, tools, function, functions, vision, streaming, thinking, reasoning, temperature, schema, parameter, endpoint, support, supports, supported`,
	ofLogin: `auth, login, authenticated, logged in, log in, sign in, signed in, signin, authenticate, reauthenticate, authentication, authorization, credential, credentials, api key, apikey, key, oauth, token, bearer, password,
		account id, accountid, schlüssel, api schlüssel, anmeldung, authentifizierung, zugangsdaten, clé, clé api, authentification, identifiants, jeton, clave, clave de, autenticación, credenciales, chave, autenticação,
		credenciais, ключ, ключа, аутентификация, аутентификации, авторизация, авторизации, токен, 密钥, 认证, 鉴权, 令牌, apiキー, キー, 認証, 키가, 키를, 인증`,
	ofPermission: `permission, permissions, scope, scopes, privilege, privileges, entitlement, access, berechtigung, zugriff, autorisation, accès, droits, permiso, permisos, acceso, permissão, permissões,
		acesso, доступ, доступа, прав, разрешения, 权限, 権限, アクセス, 권한, 접근`,
	ofContent: `content, safety, policy, policies, moderation, guideline, guidelines, inhalt, inhalte, richtlinie, richtlinien, inhaltsrichtlinie, contenu, politique, contenido, política, políticas, conteúdo, контент, содержание, политика,
		политику, политики, 内容, 安全, 敏感, コンテンツ, ポリシー, 콘텐츠, 정책`,
	ofStream:  `stream, streaming, chunk, sse, flux, flujo, fluxo, поток, ストリーム, 스트림, 流式`,
	ofNetwork: `network, connect, connecting, connection, connections, connectivity, unreachable, socket, transport, und, undici, netzwerk, verbindung, connexion, réseau, conexión, conexão, rede, соединение, соединения, подключение, сеть, сети, 连接, 网络, 接続, ネットワーク, 연결, 네트워크`,
	ofServer: `server, upstream, provider, gateway, internal, backend, service, serverfehler, dienst, serveur, servicio, servidor, serviço, сервер, сервера, сервис, 服务器, 服务, 系统, サーバー, サービス, サーバ, 서버, 서비스, 내부,
		request failed, anfrage fehlgeschlagen`,
	ofStop:     `stop reason, finish reason, stopreason, finishreason, reason error, reason abort, reason network, reason network error`,
	ofMachine:  `errno, winerror, win error`,
	ofCapacity: `capacity, resources, kapazität, capacité, capacidad, capacidade, 容量, 算力, 용량`,
	ofData:     `json, parse, parsing, deserialize, deserialise, deserialization, unmarshal, decode, decoding, 解析`,
	ofInput:    `string, parameter, parameters, argument, arguments, field, schema, property, param, params, feld, paramètre, parámetro, parâmetro, параметр, параметра, 参数, パラメータ, パラメーター, 매개변수, 파라미터`,

	isLacking: `insufficient, no, not authenticated, not subscribed, not enough, out of, ran out, run out, exhausted, depleted, empty, zero, expired, overdue, inactive, not active, unpaid, missing, required, lack, lacks, lacking, too low, negative, used up,
		without, does not have, not have a, not have, not on, needed, needs, unzureichend, unzureichendes, unzureichende, nicht genügend, nicht ausreichend, aufgebraucht, erschöpft, leer, fehlt, fehlende, abgelaufen, kein, keine,
		insuffisant, insuffisants, insuffisante, épuisé, épuisés, épuisée, expiré, expirée, manquant, manquante, requis, insuficiente, insuficientes, agotado, agotados, agotada, vencido, vencida, caducado, caducada, falta,
		esgotado, esgotados, esgotada, expirado, expirada, недостаточно, исчерпан, исчерпана, исчерпаны, закончился, закончились, закончились, истек, истёк, истекла, отсутствует, нет,
		不足, 用尽, 耗尽, 用完, 不够, 过期, 缺少, 未提供, 切れ, 足りません, ありません, 使い果た, 必要です, 부족, 소진, 만료, 없습니다, 필요`,
	isExceeded: `exceed, exceeds, exceeded, exceeding, over, reached, hit, surpassed, too many, too much, maximum, limit exceeded, limit reached, more than, greater than, overflow, überschritten, überschreitet, erreicht, zu viele, dépassé, dépassée, dépasse, atteint,
		atteinte, trop, excedido, excedida, excede, superado, superada, supera, alcanzado, alcanzada, demasiadas, demasiados, ultrapassou, ultrapassado, ultrapassa, atingido, atingida, atingiu, muitas, muitos, превышен, превышена, превышено, превышает,
		превышены, слишком много, достигнут, достигнута, 超过, 超出, 达到, 超限, 过多, 频繁, 上限, 受限, 超過, 超え, 多すぎ, 達しました, 制限, 초과, 도달, 너무 많, 제한`,
	isLong: `too long, too large, too big, too lengthy, overlong, oversized, zu lang, zu groß, trop long, trop longue, trop grand, trop grande, demasiado largo, demasiado larga, demasiado grande, muito longo, muito longa, muito grande,
		слишком длинный, слишком большой, слишком длинная, слишком велик, 过长, 太长, 过大, 超长, 長すぎ, 大きすぎ, 너무 깁니다, 너무 길, 너무 큽니다, 길이를 초과`,
	isGone: `not found, notfound, does not exist, doesnt exist, not exist, nonexistent, unknown, deactivated, retired, deprecated, decommissioned, disabled, removed, discontinued, no longer, not on plan, not available, unavailable, isnt available,
		no such, cannot find, nicht gefunden, existiert nicht, nicht verfügbar, introuvable, existe pas, indisponible, pas disponible, no encontrado, no encontrada, no existe, no disponible, não encontrado, não encontrada, não existe, não disponível, não está disponível, no está disponible, indisponível,
		не найдена, не найден, не существует, недоступна, недоступен, недоступно, 不存在, 未找到, 找不到, 不可用, 下线, 停用, 見つかりません, 存在しません, 利用できません, 찾을 수 없, 찾을, 존재하지, 사용할 수 없`,
	isDenied: `denied, deny, forbidden, refused, rejected, blocked, not allowed, unauthorized, unauthorised, not authorized, revoked, suspended, verweigert, gesperrt, blockiert, abgelehnt, refusé, refusée, interdit, bloqué, bloquée, denegado, denegada, prohibido, bloqueado, bloqueada,
		negado, negada, proibido, запрещен, запрещён, запрещено, отказано, заблокирован, заблокировано, 拒绝, 禁止, 拦截, 拒否, ブロック, 거부, 차단, 금지`,
	isWrong: `invalid, incorrect, wrong, unrecognized, unsupported, not valid, a valid, bad, illegal, ungültig, ungültiger, ungültige, falsch, invalide, incorrecte, inválido, inválida,
		incorrecto, incorrecta, incorrectos, incorrectas, incorreto, incorreta, неверный, неверная, неправильный, недействительный, недействителен, недопустимый, недопустимое, некорректный, 无效, 無効,
		不正, 유효하지, 잘못`,
	isFailed: `failed, fail, failure, failing, error, errors, errored, unable, broken, fehlgeschlagen, fehler, interner, erreur, échec, échoué, échouée, fallo, falló, erro, falha, falhou, ошибка, ошибки,
		не удалось, 错误, 失败, 异常, エラー, 失敗, 오류, 실패, issue, issues, problem, problems, trouble, crashed, crash, unhandled`,
	isMalformed: `malformed, malformed response, unparsable, unparseable`,
	isBroken: `closed, destroyed, crashed, died, went away, gone away, unreachable, aborted, abort, reset, interrupted, terminated, disconnected, lost, mismatch, dropped, ended, broken, hung up, unterbrochen, geschlossen, abgebrochen, getrennt, zurückgesetzt, interrompu, interrompue, fermé, fermée, coupé, coupée, perdue,
		interrumpido, interrumpida, cerrado, cerrada, perdido, perdida, interrompido, interrompida, fechado, fechada, encerrada, прервано, прерван, закрыто, закрыт, разорвано, потеряно, сброшено, 断开, 中断, 关闭, 重置, 切断, 閉じ, 끊, 중단, 종료`,
	isBusy: `busy, overloaded, overload, congested, congestion, saturated, high demand, no capacity, at capacity, heavy load, high load, high traffic, überlastet, ausgelastet, surchargé, surchargée, saturé, saturado, sobrecargado, sobrecargada, ocupado,
		sobrecarregado, sobrecarregada, перегружен, перегружена, перегружены, занят, 繁忙, 过载, 拥挤, 拥堵, 過負荷, 混雑, 混み合, 과부하, 혼잡, 붐`,
	isLate: `timeout, timed out, time out, deadline exceeded, took too long, zeitüberschreitung, délai dépassé, délai attente, tiempo de espera, tempo limite, tempo esgotado, таймаут, время ожидания, 超时, タイムアウト, 시간이 초과, 시간 초과, 타임아웃`,
	isViolated: `violation, violations, recitation, violates, violated, violate, flagged, filtered, filter, inappropriate, prohibited, disallowed, harmful, verstößt, verletzt, unangemessen, enfreint, viole, inapproprié, infringe, viola, violación, inapropiado, violação, inadequado, нарушает, нарушение, нарушения,
		недопустимый, 违反, 违规, 不合规, 违法, 違反, 不適切, 위반, 부적절`,
	isAsked:   `please, run, again, must, not logged, re authenticate, reauthenticate`,
	isPassing: `later, temporarily, temporary, momentarily, try again, retry, shortly, später, vorübergehend, plus tard, temporairement, réessayez, réessayer, más tarde, temporalmente, mais tarde, temporariamente, позже, временно, 稍后, 重试, 暂时, しばらく, 再試行, 後で, 一時的, 나중에, 잠시, 일시적`,
	perMinute: `minute, minutes, per second, second, seconds, window resets, rpm, tpm, qps, minuto, minuten, минуту, 每分钟, 分钟, 每秒, 毎分, 分間, 분당, 초당`,
	aLimit:    `limit, limits, cap, limite, límite, лимит, 限额, 上限, 限制, 制限, 제한`,
	perDay:    `day, daily, week, weekly, month, monthly, plan, täglich, tages, monatlich, jour, quotidien, quotidienne, mensuel, mensuelle, diario, diaria, mensual, diário, diária, mensal, день, дневной, месяц, месячный, 每日, 每天, 今日, 每周, 每月, 当日, 毎日, 本日, 月間, 일일, 하루, 월간`,
}

// meaning is what a word means by itself, and whether a phrase may end with it.
type meaning struct {
	is   concept
	ends bool
}

// lexicon has the single words, phrases those of two and three, and unparted what is looked
// for within the words of languages that do not part them.
var lexicon, phrases, unparted = readMeanings()

func readMeanings() (single map[string]meaning, several map[[3]string]tagged, within []tagged) {
	all := map[string]concept{}
	for is, words := range meanings {
		for word := range strings.SplitSeq(words, ",") {
			all[strings.TrimSpace(word)] |= is
		}
	}
	single, several = map[string]meaning{}, map[[3]string]tagged{}
	for _, word := range slices.Sorted(maps.Keys(all)) {
		switch parts := strings.Fields(word); {
		case isUnparted(word):
			within = append(within, tagged{text: word, is: all[word]})
		case len(parts) > 1:
			var key [3]string
			copy(key[3-len(parts):], parts)
			several[key] = tagged{text: word, is: all[word]}
			last := parts[len(parts)-1]
			single[last] = meaning{single[last].is, true}
		default:
			single[word] = meaning{all[word], single[word].ends}
		}
	}
	return single, several, within
}
