from sksearch.testing._engine import check_engine as check_engine
from sksearch.testing._family import check_family as check_family
from sksearch.testing._sampler import check_sampler as check_sampler
from sksearch.testing._scheduler import check_scheduler as check_scheduler
from sksearch.testing._search import check_search as check_search
from sksearch.testing._space import check_space as check_space
