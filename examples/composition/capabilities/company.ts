// Answers both capabilities of company.json.

export function getSchedule() {
  return [
    { id: 'IC-101', hour: 7, destination: 'Springfield' },
    { id: 'RE-202', hour: 9, destination: 'Capital City' },
    { id: 'IC-303', hour: 14, destination: 'Springfield' },
  ];
}

export function create({ title, content }: { title: string; content: string }) {
  return { id: 'note-1', title, content };
}
