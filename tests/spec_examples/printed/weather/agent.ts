import { getWeather } from '@capabilities/weather';

const weather = await getWeather({ 
  location: 'San Francisco', 
  unit: 'celsius' 
});

console.log(`${weather.temperature}°${weather.unit}: ${weather.description}`);
