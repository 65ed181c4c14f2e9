/** A program for the net tests: sends a DNS query, in hexadecimal, to 127.0.0.1:53, and prints the answer in hexadecimal. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const AGAIN_MS = 2_000;

const socket = createSocket('udp4');
const send = (): void => socket.send(Buffer.from(process.argv[2] ?? '', 'hex'), 53, '127.0.0.1');
send();
// Like resolvers, as no error reports a lost query.
const timer = setInterval(send, AGAIN_MS);
// Its caller ends it if there isn't one.
const [answer] = (await once(socket, 'message')) as [Buffer];
clearInterval(timer);
socket.close();
process.stdout.write(answer.toString('hex'));
