from garden.plants import Plant
from garden.watering import forecast, log_rounds, pause, quiet, rounds, sensor, strongest, water

USED = (forecast, log_rounds, pause, quiet, rounds, sensor, strongest, water, Plant)
