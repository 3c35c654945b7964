// A chat on Mulligan with AG-UI's own client: text of a failed attempt goes by itself, buttons come as an activity.
import { HttpAgent } from '@ag-ui/client'
import { useEffect, useReducer, useState } from 'react'
import { createRoot } from 'react-dom/client'

const threadId = (location.hash ||= `#${crypto.randomUUID()}`).slice(1)
const headers = { 'X-Mulligan-CSRF': '1' } // for a browser that `mulligan login` has let in; see ../serve.mjs
const agent = new HttpAgent({ url: '/v1/agui', threadId, headers })

function Recovery({ now, press }) {
  const buttons = now.phase === 'suggestion' ? now.actions.filter((a) => a.effect === 'runner') : []
  return <p role="status" className={now.phase}>
    {now.text} {buttons.map((a) => <button key={a.id} onClick={() => press(now, a)}>{a.label}</button>)}
  </p>
}

function Chat() {
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  const [, redraw] = useReducer((n) => n + 1, 0)
  const run = async (parameters, message) => {
    setError('')
    await agent.detachActiveRun() // one at a time: what it says is not lost, the next one is told of it
    if (message) agent.addMessage(message)
    agent.runAgent(parameters).catch((e) => e.name === 'EmptyError' || setError(e.message))
  }
  useEffect(() => {
    const listening = agent.subscribe({ onMessagesChanged: redraw, onRunErrorEvent: ({ event }) => setError(event.message) })
    run() // nothing new: the thread as it is, and the rest of a run that goes on
    return () => listening.unsubscribe()
  }, [])
  const press = ({ suggestionId }, { id: action }) => run({ forwardedProps: { recovery: { suggestionId, action } } })
  const draw = (m) => {
    if (m.role === 'activity' && m.content.text) return <Recovery key={m.id} now={m.content} press={press} />
    if (m.role === 'user' || m.content && m.role === 'assistant') return <section key={m.id} className={m.role}>{m.content}</section>
  }
  const send = (event) => {
    event.preventDefault()
    setText('')
    run({}, { id: crypto.randomUUID(), role: 'user', content: text })
  }
  return <main>
    {agent.messages.map(draw)}
    {error && <p role="alert">{error}</p>}
    <form onSubmit={send}><input value={text} onChange={(e) => setText(e.target.value)} required autoFocus /><button>Send</button></form>
  </main>
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Chat />)
