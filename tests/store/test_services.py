"""What was found out about services: kept from one process to the next, and replaced."""

from core.store.calls import Services
from core.store.database import open_database


def test_what_was_found_out_is_there_for_the_next_process_until_it_is_replaced(tmp_path):
    url = f"sqlite:///{tmp_path / 'believe.db'}"
    with open_database(url) as database:
        Services(database).put("openai:m@http://localhost/v1", '{"chat": true}')
        Services(database).put("openai:n", "{}")
    with open_database(url) as database:
        services = Services(database)
        assert services.get("openai:m@http://localhost/v1") == '{"chat": true}'
        services.put("openai:m@http://localhost/v1", '{"chat": false}')
        assert services.get("openai:m@http://localhost/v1") == '{"chat": false}'
        services.put("openai:m@http://localhost/v1", None)
        assert services.get("openai:m@http://localhost/v1") is None
        assert services.get("openai:n") == "{}"


def test_a_database_that_fails_costs_a_probe_and_nothing_else():
    with open_database("sqlite://") as database:
        with database.write() as connection:
            connection.exec_driver_sql("DROP TABLE services")
        services = Services(database)
        services.put("openai:m", "{}")
        assert services.get("openai:m") is None
