/**
 * A program for the net tests: connects to an address and port again and again, and prints, as JSON, who answered: what
 * servers said, and `nobody` for those calls that weren't answered, each once and sorted.
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
    return await text(socket);
  } catch {
    return 'nobody'; // how that is told depends on the routes of the machine
  } finally {
    socket.destroy();
  }
}

const answers = await Promise.all(Array.from({ length: CALLS }, call));
process.stdout.write(JSON.stringify([...new Set(answers)].toSorted()));
