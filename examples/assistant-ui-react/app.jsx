// A chat on Mulligan with assistant-ui, fed by AG-UI's own client: text of a failed attempt goes by itself, buttons
// come as a part of the message, and what is typed while an answer is written takes that answer's place.
import { HttpAgent } from '@ag-ui/client'
import { AssistantRuntimeProvider, ComposerPrimitive, MessagePrimitive, ThreadPrimitive, useExternalMessageConverter, useExternalStoreRuntime } from '@assistant-ui/react'
import { createContext, useContext, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

const threadId = (location.hash ||= `#${crypto.randomUUID()}`).slice(1)
const headers = { 'X-Mulligan-CSRF': '1' } // for a browser that `mulligan login` has let in; see ../serve.mjs
const agent = new HttpAgent({ url: '/v1/agui', threadId, headers })

// Neighbours of the assistant's become one message: an answer, and how it was recovered.
function convert({ id, role, content }) {
  if (role === 'activity') return content.text ? { id, role: 'assistant', content: [{ type: 'data', name: 'recovery', data: content }] } : []
  return content && (role === 'user' || role === 'assistant') ? { id, role, content } : []
}

function useMulligan() {
  const [messages, setMessages] = useState([])
  const [running, setRunning] = useState(0)
  const [error, setError] = useState('')
  const run = async (parameters, message) => {
    setError('')
    await agent.detachActiveRun() // one at a time: what it says is not lost, the next one is told of it
    if (message) agent.addMessage(message)
    setRunning((n) => n + 1)
    await agent.runAgent(parameters).catch((e) => e.name === 'EmptyError' || setError(e.message))
    setRunning((n) => n - 1)
  }
  useEffect(() => {
    const listening = agent.subscribe({
      onMessagesChanged: ({ messages }) => setMessages(structuredClone(messages)), // a message that grows is another one
      onCustomEvent: ({ event }) => { if (event.name === 'mulligan') agent.mulligan = event.value.run },
      onRunErrorEvent: ({ event }) => setError(event.message),
    })
    run() // nothing new: the thread as it is, and the rest of a run that goes on
    return () => listening.unsubscribe()
  }, [])
  const send = ({ content }) => run({}, { id: crypto.randomUUID(), role: 'user', content: content.map((part) => part.text ?? '').join('') })
  const isRunning = running > 0
  const runtime = useExternalStoreRuntime({
    messages: useExternalMessageConverter({ callback: convert, messages, isRunning }),
    isRunning,
    onNew: send,
    onCancel: () => fetch(`/v1/runs/${agent.mulligan}/cancel`, { method: 'POST', headers }),
    // Without a queue assistant-ui sends nothing while an answer is written. Mulligan needs none: it stops that answer.
    queue: { items: [], steerItems: [], enqueue: send, steer: send, move() {}, edit() {}, remove() {} },
  })
  const press = ({ suggestionId }, { id: action }) => run({ forwardedProps: { recovery: { suggestionId, action } } })
  return { runtime, error, press }
}

const Press = createContext()

function Recovery({ data: now }) {
  const press = useContext(Press)
  const buttons = now.phase === 'suggestion' ? now.actions.filter((a) => a.effect === 'runner') : []
  return <p role="status" className={now.phase}>
    {now.text} {buttons.length > 0 && <br />}{buttons.map((a) => <button key={a.id} onClick={() => press(now, a)}>{a.label}</button>)}
  </p>
}

const parts = { data: { by_name: { recovery: Recovery } } }
const User = () => <section className="user"><MessagePrimitive.Parts /></section>
const Assistant = () => <section className="assistant"><MessagePrimitive.Parts components={parts} /></section>

function Chat() {
  const { runtime, error, press } = useMulligan()
  return <AssistantRuntimeProvider runtime={runtime}>
    <Press value={press}>
      <ThreadPrimitive.Root asChild><main>
        <ThreadPrimitive.Viewport className="thread">
          <ThreadPrimitive.Messages components={{ UserMessage: User, AssistantMessage: Assistant }} />
          {error && <p role="alert">{error}</p>}
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input autoFocus placeholder="Message" />
          <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        </ComposerPrimitive.Root>
      </main></ThreadPrimitive.Root>
    </Press>
  </AssistantRuntimeProvider>
}

const look = new CSSStyleSheet()
look.replaceSync(`
  body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1c1c1e; color-scheme: light }
  main { display: flex; flex-direction: column; height: 100dvh; max-width: 44rem; margin: auto; padding: 0 1rem 1rem; box-sizing: border-box }
  .thread { flex: 1; overflow-y: auto; padding-top: 1rem }
  section p { margin: .5rem 0 }
  .user { width: fit-content; max-width: 80%; margin: 1rem 0 1rem auto; padding: .1rem .9rem; background: #eef0f3; border-radius: 1rem }
  [role=status], [role=alert] { color: #6b6f76; font-size: .9rem }
  .suggestion { padding: .6rem .9rem; border-left: 3px solid #d98324; background: #fdf6ec; color: inherit; border-radius: .3rem }
  [role=alert] { color: #b3261e }
  button { font: inherit; padding: .25rem .8rem; margin: .4rem .4rem 0 0; background: #fff; border: 1px solid #c9ccd1; border-radius: .5rem; cursor: pointer }
  .suggestion button:first-of-type, [type=submit]:enabled { background: #1c1c1e; border-color: #1c1c1e; color: #fff }
  form { display: flex; gap: .5rem; align-items: end }
  form button { margin: 0; height: 2.6rem } form button:disabled { color: #9a9ea5; cursor: default } form [type=button]:disabled { display: none }
  textarea { flex: 1; font: inherit; padding: .5rem .8rem; border: 1px solid #c9ccd1; border-radius: .5rem; resize: none }
`)
document.adoptedStyleSheets = [look]

createRoot(document.body.appendChild(document.createElement('div'))).render(<Chat />)
