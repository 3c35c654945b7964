// What your own backend does for such a page: it serves it, has Mulligan's token, and passes on what the
// page asks Mulligan. `node serve.mjs dist/app.js` serves http://127.0.0.1:3000.
import { readFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { homedir } from 'node:os'
import { join } from 'node:path'

const { MULLIGAN_URL = 'http://127.0.0.1:8484', PORT = 3000 } = process.env
const state = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state')
const token = process.env.MULLIGAN_TOKEN ?? (await readFile(join(state, 'mulligan', 'token'), 'utf8')).trim()
const page = '<!doctype html><meta charset="utf-8"><title>Chat</title><body><script type="module" src="/app.js"></script>'

createServer(async (req, res) => {
  if (req.headers.host !== `127.0.0.1:${PORT}`) return res.writeHead(421).end() // another page's name for this machine
  if (req.url === '/') return res.writeHead(200, { 'Content-Type': 'text/html' }).end(page)
  if (req.url === '/app.js') return res.writeHead(200, { 'Content-Type': 'text/javascript' }).end(await readFile(process.argv[2]))
  if (!/^\/v1\/(aisdk|agui|runs\/[a-z0-9-]+\/cancel)(\/|$)/.test(req.url)) return res.writeHead(404).end()
  // What says that it is JSON cannot come from another site's page unasked: Mulligan refuses what does not.
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': req.headers['content-type'] ?? 'text/plain' }
  const asked = request(new URL(req.url, MULLIGAN_URL), { method: req.method, headers }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers)
    answer.pipe(res)
  })
  asked.on('error', (error) => res.headersSent ? res.destroy() : res.writeHead(502).end(`Mulligan does not answer: ${error.message}`))
  res.on('close', () => asked.destroy())
  req.pipe(asked)
}).listen(PORT, '127.0.0.1', () => console.log(`http://127.0.0.1:${PORT}`))
