#!/usr/bin/env -S node --max-semi-space-size=1
/** What runs in the Pods of the shop: says who answers, and by which address it knows who asked. */
import { createServer } from 'node:http';

const server = createServer(({ socket, headers }, response) => {
  // A connection per request, so that each one is led to a Pod of its own.
  response.setHeader('connection', 'close');
  response.end(
    `${JSON.stringify({ by: process.env['POD_NAME'], seen: socket.remoteAddress?.replace('::ffff:', ''), said: headers['x-said'] })}\n`,
  );
});
server.listen(8080, '::');
process.once('SIGTERM', () => server.close());
