/** Listens at the port and on the address that are its arguments, hands the socket to the process that forked it, and ends. */
import { createServer } from 'node:net';

const server = createServer();
server.listen(Number(process.argv[2]), process.argv[3], () => {
  process.send?.('listening', server, {}, () => process.disconnect());
  server.close();
});
