/**
 * A program for the net tests: connects to an address and port many times, and prints as JSON what servers answered, and
 * `no answer` for calls without one, each once and sorted.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** So many calls miss one of three servers once in ten million times. */
const CALLS = 40;

const [, , host, port] = process.argv;

async function call(): Promise<string> {
  const socket = connect(Number(port), host ?? '');
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(5_000) });
    socket.end();
    return await text(socket);
  } catch {
    return 'no answer'; // the error depends on the routes of the machine
  } finally {
    socket.destroy();
  }
}

const answers = await Promise.all(Array.from({ length: CALLS }, call));
process.stdout.write(JSON.stringify([...new Set(answers)].toSorted()));
