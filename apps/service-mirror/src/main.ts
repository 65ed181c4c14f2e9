import { runCommand } from '@kube-semaphore/runtime';
import packageJson from '../package.json' with { type: 'json' };
import { runCleanup, runMirror, runPlan } from './commands.ts';
import { options, overridden, program, superseded, validate } from './config/options.ts';

await runCommand(
  { program, version: packageJson.version, options, validate, superseded, overridden },
  (command, run) => {
    switch (command.subcommand) {
      case 'cleanup':
        return runCleanup(command, run);
      case 'plan':
        return runPlan(command, run);
      default:
        return runMirror(command, run);
    }
  },
);
