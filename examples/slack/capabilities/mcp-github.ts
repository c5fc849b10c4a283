// Stands for the server whose tools mcp-github.json lists.

export function listIssues({ repo }: { repo: string }) {
  return [{ number: 1, title: `The first of ${repo}` }];
}
