import * as msk from 'aws-cdk-lib/aws-msk';
new msk.CfnConfiguration(this, 'Config', {
  name: 'prod',
  serverProperties: [
    'default.replication.factor=2',
    'min.insync.replicas=1',
  ].join('\n'),
});
