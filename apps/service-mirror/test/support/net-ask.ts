/** A program for the net tests: sends a DNS query, in hexadecimal, to 127.0.0.1:53, and prints the answer so. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const socket = createSocket('udp4');
socket.send(Buffer.from(process.argv[2] ?? '', 'hex'), 53, '127.0.0.1');
const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(5_000) })) as [Buffer];
socket.close();
process.stdout.write(answer.toString('hex'));
