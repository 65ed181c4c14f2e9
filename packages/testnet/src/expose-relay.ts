/** Gets a socket that listens in another namespace, and leads its connections to 127.0.0.1 at the port in its argument. */
import { connect, type Server } from 'node:net';
import { join } from './join.ts';

const port = Number(process.argv[2]);

process.once('message', (_message, server: Server) => {
  server.on('connection', (socket) => void join(socket, connect(port, '127.0.0.1')));
  process.send?.('ready');
});
