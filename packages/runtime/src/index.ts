export { startHealthServer, type Health, type MetricsSource } from './health-server.ts';
export { createLogger, type LogFields, type Logger } from './logger.ts';
export { metricsReference, type MetricSpec, type MetricTable } from './metric-table.ts';
export { createMetrics, type Counter, type Gauge, type Histogram, type Instruments } from './metrics.ts';
export { addProcessMetrics } from './process-metrics.ts';
export { runUntilSignal } from './run-until-signal.ts';
export { sharedMetrics } from './shared-metrics.ts';
