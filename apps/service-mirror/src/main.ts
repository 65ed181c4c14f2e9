import { runCommand } from '@kube-semaphore/app';
import packageJson from '../package.json' with { type: 'json' };
import { runMirror, runPlan } from './commands.ts';
import { options, overridden, program, validate } from './options.ts';

await runCommand({ program, version: packageJson.version, options, validate, overridden }, (command, run) =>
  command.subcommand === 'plan' ? runPlan(command, run) : runMirror(command, run),
);
