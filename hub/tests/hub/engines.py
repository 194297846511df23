# Answers queries on the dump in one engine.
#
# Arguments: the engine, the directory of the dump. Standard input: an object of statements by name. Standard
# output: an object of answers by name, each a list of rows, each an object.
import json
import os
import sys

engine, directory = sys.argv[1:]
queries = json.load(sys.stdin)
TABLES = ['runs', 'phases']


def files(table):
    return os.path.join(directory, table, '*.parquet')


def duckdb_answers():
    import duckdb
    connection = duckdb.connect()
    for table in TABLES:
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM '{files(table)}'")
    for name, text in queries.items():
        answer = connection.execute(text)
        columns = [column[0] for column in answer.description]
        yield name, [dict(zip(columns, row)) for row in answer.fetchall()]


def clickhouse_answers():
    from chdb import session
    here = session.Session()
    for table in TABLES:
        here.query(f"CREATE VIEW {table} AS SELECT * FROM file('{files(table)}', Parquet)")
    for name, text in queries.items():
        lines = str(here.query(text, 'JSONEachRow')).splitlines()
        yield name, [json.loads(line) for line in lines]


def polars_answers():
    import polars
    context = polars.SQLContext({table: polars.scan_parquet(files(table)) for table in TABLES})
    for name, text in queries.items():
        yield name, context.execute(text, eager=True).to_dicts()


answers = {'duckdb': duckdb_answers, 'clickhouse': clickhouse_answers, 'polars': polars_answers}
json.dump(dict(answers[engine]()), sys.stdout, default=str)
