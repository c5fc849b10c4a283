// Inside sandbox
const result = await __agentSpaces.callCapability(
  'trainSchedule',
  'getSchedule',
  { station: 'Central' }
);

// Outside sandbox (host)
sandbox.on('capability.call', async (call) => {
  const capability = registry.get(call.name);
  const result = await capability.execute(call.function, call.params);
  sandbox.respond(call.id, result);
});
