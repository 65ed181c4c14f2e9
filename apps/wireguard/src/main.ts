import { runCommand } from '@kube-semaphore/runtime';
import packageJson from '../package.json' with { type: 'json' };
import { runAgent, runCleanup, runPlan, runRotate, runStatus } from './commands.ts';
import { options, program, validate } from './config/options.ts';

await runCommand({ program, version: packageJson.version, options, validate }, (command, run) => {
  switch (command.subcommand) {
    case 'plan':
      return runPlan(command, run);
    case 'status':
      return runStatus(command, run);
    case 'rotate':
      return runRotate(command, run);
    case 'cleanup':
      return runCleanup(command, run);
    default:
      return runAgent(command, run);
  }
});
