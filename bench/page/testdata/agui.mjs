// AG-UI's own client: it asks, answers the interrupt with the label in argv, and prints what it has then.
import { HttpAgent } from '@ag-ui/client'

const [url, token, label] = process.argv.slice(2)
const agent = new HttpAgent({ url: `${url}/v1/agui`, threadId: 'node', headers: { Authorization: `Bearer ${token}` } })
const seen = []
agent.subscribe({ onMessagesChanged: ({ messages }) => seen.push(messages.filter((m) => m.role === 'assistant').map((m) => m.content).join('|')) })
const forwardedProps = { recovery: 'interrupt' }
agent.addMessage({ id: 'm1', role: 'user', content: 'What is a mulligan?' })
await agent.runAgent({ forwardedProps })
const [asked] = agent.pendingInterrupts
const choices = asked.responseSchema.properties.action.oneOf
const action = choices.find((c) => c.title === label).const
await agent.runAgent({ forwardedProps, resume: [{ interruptId: asked.id, status: 'resolved', payload: { action } }] })
const back = new HttpAgent({ url: agent.url, threadId: agent.threadId, headers: agent.headers })
await back.runAgent()
const text = (messages) => messages.filter((m) => m.role !== 'activity').map((m) => `${m.role}: ${m.content}`)
console.log(JSON.stringify({
  choices: choices.map((c) => c.title), message: asked.message, partial: seen.includes('Half of it'), pending: agent.pendingInterrupts.length,
  messages: text(agent.messages), back: text(back.messages), state: agent.state.recovery.phase,
}))
