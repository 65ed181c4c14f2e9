/** A process that owns a component, says in which folder, and runs until somebody ends it. */
import { Supervision } from '../src/real/supervision.ts';
import { sleeper } from './sleeper.ts';

const supervision = await Supervision.start();
supervision.spawn(sleeper(supervision.dir));
process.send?.(supervision.dir);
