# Answers queries on the dump in one engine.
#
# Arguments: the engine, the directory of the dump or its address. Standard input: an object of statements by name. Standard
# output: an object by name of answers and the seconds that each took; an answer is a list of rows, each an object.
import json
import os
import sys
import time
import urllib.request

engine, place = sys.argv[1:]
queries = json.load(sys.stdin)
TABLES = ['runs', 'phases']

# ClickHouse's own `median` draws a sample from more than 8,192 values.
EXACT_MEDIAN = 'quantileExactInclusive(0.5)'


def is_remote():
    return place.startswith('http')


def files(table):
    if not is_remote():
        return [os.path.join(place, table, '*.parquet')]
    with urllib.request.urlopen(place + '/manifest.json') as answer:
        listed = json.load(answer)['files']
    return [f"{place}/{file['path']}" for file in listed if file['table'] == table]


def duckdb_answers():
    import duckdb
    connection = duckdb.connect()
    for table in TABLES:
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({files(table)})")
    def answer(text):
        found = connection.execute(text)
        columns = [column[0] for column in found.description]
        return [dict(zip(columns, row)) for row in found.fetchall()]
    return answer


def clickhouse_answers():
    from chdb import session
    here = session.Session()
    for table in TABLES:
        source = 'url' if is_remote() else 'file'
        names = files(table)
        names = names[0] if len(names) == 1 else '{' + ','.join(names) + '}'
        here.query(f"CREATE VIEW {table} AS SELECT * FROM {source}('{names}', Parquet)")
    def answer(text):
        text = text.replace('median(', EXACT_MEDIAN + '(')
        return [json.loads(line) for line in str(here.query(text, 'JSONEachRow')).splitlines()]
    return answer


def polars_answers():
    import polars
    context = polars.SQLContext({table: polars.scan_parquet(files(table)) for table in TABLES})
    return lambda text: context.execute(text, eager=True).to_dicts()


def timed(answer, text):
    start = time.monotonic()
    rows = answer(text)
    return {'rows': rows, 's': time.monotonic() - start}


engines = {'duckdb': duckdb_answers, 'clickhouse': clickhouse_answers, 'polars': polars_answers}
answer = engines[engine]()
json.dump({name: timed(answer, text) for name, text in queries.items()}, sys.stdout, default=str)
