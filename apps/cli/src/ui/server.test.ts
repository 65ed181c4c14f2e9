import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve } from './server.ts';

const token = 'a-token-that-is-long-enough';
const SECRET = 'the mesh';
const page = { '': { type: 'text/html', body: () => SECRET } };

/** What a server answers to bytes, as any program of this machine or any page can send them. */
async function answerTo(bytesFor: (host: string) => string): Promise<string> {
  const { url, server } = await serve(page, { port: 0, token });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { host, port } = new URL(url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true });
  socket.end(bytesFor(host));
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
  await once(socket, 'close');
  return answer;
}

const get = (path: string, lines: string): string => `GET ${path} HTTP/1.1\r\n${lines}\r\nConnection: close\r\n\r\n`;

describe('serve', () => {
  it('answers who knows the token, by its own address', async () => {
    expect(await answerTo((host) => get(`/${token}/`, `Host: ${host}`))).toContain(SECRET);
  });

  it.each<{ name: string; bytes: (host: string) => string }>([
    { name: 'no token', bytes: (host) => get('/', `Host: ${host}`) },
    { name: 'a part of the token', bytes: (host) => get(`/${token.slice(0, -1)}/`, `Host: ${host}`) },
    { name: 'more than the token', bytes: (host) => get(`/${token}x/`, `Host: ${host}`) },
    { name: 'the token in upper case', bytes: (host) => get(`/${token.toUpperCase()}/`, `Host: ${host}`) },
    { name: 'the token in the query', bytes: (host) => get(`/?${token}/`, `Host: ${host}`) },
    { name: 'a path above', bytes: (host) => get(`/x/../${token}/`, `Host: ${host}`) },
    { name: 'a name that leads here', bytes: (host) => get(`/${token}/`, `Host: evil.example:${host.split(':')[1]}`) },
    { name: 'localhost', bytes: (host) => get(`/${token}/`, `Host: localhost:${host.split(':')[1]}`) },
    { name: 'no host', bytes: () => `GET /${token}/ HTTP/1.0\r\n\r\n` },
    { name: 'two hosts', bytes: (host) => get(`/${token}/`, `Host: evil.example\r\nHost: ${host}`) },
    { name: 'a host in the URL', bytes: (host) => get(`http://${host}/${token}/`, 'Host: evil.example') },
    { name: 'POST', bytes: (host) => `POST /${token}/ HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n` },
    { name: 'HEAD', bytes: (host) => `HEAD /${token}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n` },
    { name: 'CONNECT', bytes: (host) => `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n` },
    { name: 'a property of all objects', bytes: (host) => get(`/${token}/constructor`, `Host: ${host}`) },
    { name: 'a file above', bytes: (host) => get(`/${token}/../../etc/passwd`, `Host: ${host}`) },
    { name: 'an encoded path', bytes: (host) => get(`/${token}/%2e%2e%2fpage.js`, `Host: ${host}`) },
  ])('answers nothing to $name', async ({ bytes }) => {
    const answer = await answerTo(bytes);
    expect(answer).not.toContain(SECRET);
    expect(answer).not.toMatch(/^HTTP\/1\.1 2/);
    expect(answer).not.toContain(token);
  });
});
