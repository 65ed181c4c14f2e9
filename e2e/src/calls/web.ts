#!/usr/bin/env -S node --max-semi-space-size=1
/** The program in the shop's Pods: answers with its name and the caller's address. */
import { createServer } from 'node:http';

const server = createServer(({ socket, headers }, response) => {
  // One connection for each request, so that each may reach another Pod.
  response.setHeader('connection', 'close');
  response.end(
    `${JSON.stringify({ by: process.env['POD_NAME'], seen: socket.remoteAddress?.replace('::ffff:', ''), said: headers['x-said'] })}\n`,
  );
});
server.listen(Number(process.env['PORT'] ?? 8080), '::');
process.once('SIGTERM', () => server.close());
