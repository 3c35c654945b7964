// A chat on Mulligan with useChat: text of a failed attempt goes by itself, buttons come as data parts.
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

const api = '/v1/aisdk'
const headers = { 'X-Mulligan-CSRF': '1' } // for a browser that `mulligan login` has let in; see ../serve.mjs
const id = (location.hash ||= `#${crypto.randomUUID()}`).slice(1)
const loaded = await fetch(`${api}/${id}/messages`).then((r) => r.json())
const transport = new DefaultChatTransport({ api, headers })

function Recovery({ now, press }) {
  const buttons = now.phase === 'suggestion' ? now.actions.filter((a) => a.effect === 'runner') : []
  return <p role="status" className={now.phase}>
    {now.text} {buttons.map((a) => <button key={a.id} onClick={() => press(now, a)}>{a.label}</button>)}
  </p>
}

function Chat() {
  const [text, setText] = useState('')
  const { messages, sendMessage, regenerate, error } = useChat({ id, messages: loaded.messages, resume: true, transport })
  const press = ({ suggestionId }, { id: action }) => regenerate({ body: { recovery: { suggestionId, action } } })
  const draw = (part, i) => {
    if (part.type === 'text') return <p key={i}>{part.text}</p>
    if (part.type === 'data-recovery' && part.data.text) return <Recovery key={i} now={part.data} press={press} />
    if (part.type === 'dynamic-tool') return <p key={i}>{part.toolName}: {part.output ?? '…'}</p>
  }
  const send = (event) => {
    event.preventDefault()
    setText('')
    sendMessage({ text })
  }
  return <main>
    {messages.map((m) => <section key={m.id} className={m.role}>{m.parts.map(draw)}</section>)}
    {error && <p role="alert">{error.message}</p>}
    <form onSubmit={send}><input value={text} onChange={(e) => setText(e.target.value)} required autoFocus /><button>Send</button></form>
  </main>
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Chat />)
