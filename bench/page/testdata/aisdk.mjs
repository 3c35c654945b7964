// The AI SDK's own transport, which checks each chunk by its schema: it asks, presses the button with the
// label in argv, and prints what it has then.
import { DefaultChatTransport, readUIMessageStream } from 'ai'

const [url, token, label] = process.argv.slice(2)
const transport = new DefaultChatTransport({ api: `${url}/v1/aisdk`, headers: { Authorization: `Bearer ${token}` } })
const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'What is a mulligan?' }] }]
const text = (m) => m.parts.filter((p) => p.type === 'text').map((p) => p.text).join('|')
const card = (m) => m.parts.findLast((p) => p.type === 'data-recovery')?.data

async function ask(trigger, body) {
  const stream = await transport.sendMessages({ chatId: 'node', messages, trigger, body })
  const seen = []
  let message
  for await (message of readUIMessageStream({ stream })) seen.push(text(message))
  return { message, seen }
}

const first = await ask('submit-message')
const { suggestionId, actions } = card(first.message)
const action = actions.find((a) => a.label === label).id
const second = await ask('regenerate-message', { recovery: { suggestionId, action } })
const resumed = await transport.reconnectToStream({ chatId: 'node' })
let back
for await (back of readUIMessageStream({ stream: resumed }));
console.log(JSON.stringify({
  choices: actions.map((a) => a.label), message: card(first.message).text, partial: text(first.message) === 'Half of it', pending: 0,
  messages: [`assistant: ${text(second.message)}`], back: [`assistant: ${text(back)}`], state: card(second.message).phase,
}))
