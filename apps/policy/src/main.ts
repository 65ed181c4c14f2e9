import { runCommand } from '@kube-semaphore/runtime';
import packageJson from '../package.json' with { type: 'json' };
import { runCheck, runCleanup, runExplain, runLabelNamespaces, runPlan, runPolicy } from './commands.ts';
import { options, overridden, program, validate } from './config/options.ts';

await runCommand({ program, version: packageJson.version, options, validate, overridden }, (command, run) => {
  switch (command.subcommand) {
    case 'check':
      return runCheck(command, run);
    case 'cleanup':
      return runCleanup(command, run);
    case 'explain':
      return runExplain(command, run);
    case 'label-namespaces':
      return runLabelNamespaces(command, run);
    case 'plan':
      return runPlan(command, run);
    default:
      return runPolicy(command, run);
  }
});
