import { runCommand } from '@kube-semaphore/runtime';
import packageJson from '../package.json' with { type: 'json' };
import { runCleanup, runLabelNamespaces, runPlan, runPolicy } from './commands.ts';
import { options, overridden, program, validate } from './config/options.ts';

await runCommand({ program, version: packageJson.version, options, validate, overridden }, (command, run) => {
  switch (command.subcommand) {
    case 'cleanup':
      return runCleanup(command, run);
    case 'label-namespaces':
      return runLabelNamespaces(command, run);
    case 'plan':
      return runPlan(command, run);
    default:
      return runPolicy(command, run);
  }
});
