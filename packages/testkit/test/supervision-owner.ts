/** A process that owns a component, prints its folder, and runs until it is killed. */
import { Supervision } from '../src/real/supervision.ts';
import { sleeper } from './sleeper.ts';

const supervision = await Supervision.start();
supervision.spawn(sleeper(supervision.dir));
process.send?.(supervision.dir);
