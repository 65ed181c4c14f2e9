import { setInterval } from 'node:timers/promises';
import { createLogger } from '../src/log/logger.ts';
import { endOnBrokenPipe } from '../src/process/broken-pipe.ts';
import { runUntilSignal } from '../src/process/run-until-signal.ts';

/** A program that writes to `stdout` or to its log without end. */
const log = createLogger({ level: 'info', format: 'json' });
const say = process.argv[2] === 'stdout' ? () => void process.stdout.write('line\n') : () => log.info({}, 'line');

if (process.argv[3] !== 'unprepared') endOnBrokenPipe();
process.exit(
  await runUntilSignal(
    async ({ signal }) => {
      for await (const _ of setInterval(5, undefined, { signal })) say();
    },
    { log },
  ),
);
