/** Listens on 127.0.0.1 at the port that is its argument, hands the socket to the process that forked it, and ends. */
import { createServer } from 'node:net';

const server = createServer();
server.listen(Number(process.argv[2]), '127.0.0.1', () => {
  process.send?.('listening', server, {}, () => process.disconnect());
  server.close();
});
