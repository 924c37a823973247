"""One connection to a broker, over which nothing but requests that read can be sent.

The codecs of the requests and the SASL mechanisms are those of kafka-python; the socket is ours, since a
client of that library tries again until its time is over, and does not keep why an attempt failed.
"""

from __future__ import annotations

import logging
import socket
import ssl
import struct
import time
import warnings
from collections.abc import Mapping
from functools import cache
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NoReturn, Self

from modelcheck.kafka.live.security import Security
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.reading import reason_of
from spec.source import Source

# NOTE(read-only): all requests that are ever sent, with the versions that are understood here.  None of
# them changes anything; `Metadata` below version 4 could create a topic that it names, and names none.
READ_ONLY: Mapping[str, tuple[int, int]] = {
    "ApiVersions": (0, 4),
    "SaslHandshake": (0, 1),
    "SaslAuthenticate": (0, 1),
    "Metadata": (0, 12),
    "DescribeCluster": (0, 2),
    "DescribeConfigs": (1, 4),
    "DescribeTopicPartitions": (0, 0),
    "DescribeQuorum": (0, 2),
    "ListPartitionReassignments": (0, 0),
}
UNSUPPORTED_VERSION = 35
_SIZE = struct.Struct(">i")  # of what follows
_LARGEST = 1 << 28  # bytes of an answer; those about ten thousand topics take some megabytes
_TLS_ALERT = b"\x15\x03"
_OWN_NAME = "modelcheck"


@frozen
class Address:
    """A host and its port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class CannotAsk(SpecError):  # noqa: N818 - the state of a cluster, and no bug
    """Raised if an address cannot be asked (R0760); `why` is a sentence without its subject."""

    def __init__(self, address: Address, why: str, advice: str = "") -> None:
        self.why = why
        source = Source(str(address), "")
        super().__init__([Diagnostic("R0760", source, None, f"this address {why}", help=advice)])


class Refused(Exception):  # noqa: N818 - an answer of the cluster, that the caller reports
    """Raised if a broker answers a request with an error; `code` is Kafka's, `name` its name."""

    def __init__(self, code: int, text: str = "") -> None:
        self.code = code
        self.name = str(getattr(_library().errors.for_code(code), "__name__", code)).removesuffix("Error")
        super().__init__(f"{self.name}: {text}" if text else self.name)


class Connection:
    """A connection that is ready for requests: TLS and SASL are done, and the broker's versions known.

    `apis` are the versions of each API that the broker has; `supported` and `finalized` its features with
    their highest level.  Raises CannotAsk with the reason if there is none.
    """

    def __init__(self, address: Address, security: Security, seconds: float) -> None:
        self.address = address
        self._seconds = seconds
        self._number = 0
        self.apis: dict[int, tuple[int, int]] = {}
        self.supported: dict[str, int] = {}
        self.finalized: dict[str, int] = {}
        self._socket = self._connected(security)
        try:
            self._find_versions(tls=security.tls)
            if security.user is not None:
                self._log_in(security)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def has(self, request: str) -> bool:
        """Whether the broker answers a request in a version that is understood here."""
        return self._version(request) is not None

    def version(self, request: str) -> int:
        """The version in which a request is sent; the broker must have it."""
        version = self._version(request)
        if version is None:
            self.fail(
                f"has no version of the request {request} that is known here", "Kafka 1.1 and later have"
            )
        return version

    def ask(self, request: str, **fields: object) -> Any:  # noqa: ANN401 - the library has no types
        """The answer to a request. Raises CannotAsk if there is none."""
        try:
            return self._exchange(request, self.version(request), fields)
        except ConnectionError:
            self.fail(
                f"closed the connection at the request {request}",
                "does this listener need a user? write it into client properties: --bootstrap-config PATH",
            )

    def new(self, request: str, part: str, **fields: object) -> object:
        """A part of a request, by the names of the structures that it is in."""
        return attrgetter(part)(_message(f"{request}Request"))(**fields)

    def fail(self, message: str, advice: str = "") -> NoReturn:
        """Raise CannotAsk about this broker."""
        raise CannotAsk(self.address, message, advice)

    # ------------------------------------------------------------------ how it begins

    def _connected(self, security: Security) -> socket.socket:
        """The socket, with TLS if that is wanted."""
        where = (self.address.host, self.address.port)
        context = _context(security) if security.tls else None
        try:
            plain = socket.create_connection(where, self._seconds)
        except TimeoutError:
            self.fail(
                f"did not answer within {self._seconds:g} s", "is a firewall between? or give --timeout"
            )
        except socket.gaierror:
            self.fail("is a host that has no address here", "is the name right, and known on this machine?")
        except OSError as error:
            why = reason_of(error)
            self.fail(f"cannot be reached: {why}", "is a broker running there, with a listener at this port?")
        if context is None:
            return plain
        try:
            return context.wrap_socket(plain, server_hostname=self.address.host)
        except ssl.SSLCertVerificationError as error:
            plain.close()
            advice = (
                "give the certificates of its authority: ssl.truststore.type=PEM and ssl.truststore.location "
                "in the file of --bootstrap-config"
            )
            self.fail(f"shows a certificate that is not trusted: {error.verify_message}", advice)
        except (ssl.SSLError, ConnectionError, TimeoutError) as error:
            plain.close()
            why = getattr(error, "reason", None) or "no answer to the first message of TLS"
            is_plain = why in {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"}
            why = "it does not speak TLS" if is_plain else str(why).replace("_", " ").lower()
            self.fail(f"has no TLS with us: {why}", "does security.protocol fit this listener?")

    def _find_versions(self, *, tls: bool) -> None:
        """Ask which versions of each API the broker has."""
        newest = READ_ONLY["ApiVersions"][1]
        own = {"client_software_name": _OWN_NAME, "client_software_version": "1"}
        try:
            found = self._exchange("ApiVersions", newest, own)
            if found.error_code == UNSUPPORTED_VERSION:
                ranges = {key.api_key: key.max_version for key in found.api_keys}
                again = min(newest, ranges.get(found.API_KEY, 0))
                found = self._exchange("ApiVersions", again, own)
        except ConnectionError:
            advice = "is it a broker of Kafka 0.10 or later?"
            if not tls:
                advice = (
                    "if this listener is one of TLS, write security.protocol=SSL or SASL_SSL into a file and "
                    f"name that with --bootstrap-config; else: {advice}"
                )
            self.fail("closed the connection without an answer to the first request", advice)
        if found.error_code:
            raise Refused(found.error_code)
        self.apis = {key.api_key: (key.min_version, key.max_version) for key in found.api_keys}
        if found.version >= _FLEXIBLE:
            self.supported = {each.name: each.max_version for each in found.supported_features or ()}
            self.finalized = {each.name: each.max_version_level for each in found.finalized_features or ()}
        if not self.has("Metadata"):
            advice = "a controller of KRaft answers there: give a listener of brokers"
            self.fail("is no broker: it has no topics", advice)

    def _log_in(self, security: Security) -> None:
        """Authenticate with SASL."""
        user = security.user
        if user is None:
            return
        if not self.has("SaslHandshake") or not self.has("SaslAuthenticate"):
            self.fail("has no SASL that is supported here", "SASL needs Kafka 1.0 or later")
        found = self.ask("SaslHandshake", mechanism=user.mechanism)
        if found.error_code:
            known = ", ".join(found.mechanisms) or "none"
            message = f"does not take the SASL mechanism {user.mechanism}; it has: {known}"
            self.fail(message, "does security.protocol fit this listener?")
        talk = _library().mechanisms.get_sasl_mechanism(user.mechanism)(
            sasl_mechanism=user.mechanism,
            sasl_plain_username=user.username,
            sasl_plain_password=user.password,
        )
        try:
            while not talk.is_done():
                found = self.ask("SaslAuthenticate", auth_bytes=talk.auth_bytes())
                if found.error_code:
                    break
                talk.receive(found.auth_bytes)
        except (ValueError, KeyError):  # of a server that does not know the password either
            self.fail(f"does not prove that it knows the user `{user.username}`", "is it the right cluster?")
        if found.error_code or not talk.is_authenticated():
            advice = "check username and password in the file of --bootstrap-config"
            self.fail(f"does not let the user `{user.username}` in: authentication failed", advice)

    # ------------------------------------------------------------------ requests and answers

    def _version(self, request: str) -> int | None:
        """The newest version of a request that both sides have; None if there is none."""
        oldest, newest = READ_ONLY[request]
        theirs = self.apis.get(_message(f"{request}Request").API_KEY)
        if theirs is None:
            return None
        best = min(newest, theirs[1])
        return best if best >= max(oldest, theirs[0]) else None

    def _exchange(self, request: str, version: int, fields: Mapping[str, object]) -> Any:  # noqa: ANN401
        """The answer to a request in a version. Raises ConnectionError if the broker closes."""
        asked = _message(f"{request}Request")(version=version, **_of_version(request, version, fields))
        self._number += 1
        asked.with_header(correlation_id=self._number, client_id=_OWN_NAME)
        until = time.monotonic() + self._seconds
        try:
            self._socket.settimeout(self._seconds)
            self._socket.sendall(asked.encode(header=True, framed=True))
            answer = self._frame(until)
        except TimeoutError:
            self.fail(f"gave no answer to {request} within {self._seconds:g} s", "give more with --timeout")
        except ssl.SSLError as error:
            raise ConnectionError(str(error.reason)) from None
        try:
            found = _message(f"{request}Response").decode(answer, version=version, header=True)
        except Exception:  # noqa: BLE001 - what is no answer of Kafka fails in many ways
            self.fail(f"answers {request} with what is not Kafka's protocol", "is it a broker of Kafka?")
        if found.header.correlation_id != self._number:
            self.fail("answers another request than ours", "is it a broker of Kafka?")
        return found

    def _frame(self, until: float) -> bytes:
        """The bytes of an answer."""
        head = self._bytes(_SIZE.size, until)
        (size,) = _SIZE.unpack(head)
        if head.startswith(_TLS_ALERT):
            advice = (
                "write security.protocol=SSL or SASL_SSL into a file, and name it with --bootstrap-config"
            )
            self.fail("speaks TLS", advice)
        if not _SIZE.size <= size <= _LARGEST:
            shown = head.decode("ascii", "replace")
            shown = shown if shown.isascii() and shown.isprintable() else ""
            said = f" (its answer begins with `{shown}`)" if shown else ""
            self.fail(f"does not speak Kafka's protocol{said}", "is it the port of a broker's listener?")
        return self._bytes(size, until)

    def _bytes(self, size: int, until: float) -> bytes:
        """`size` bytes of an answer. Raises ConnectionError, or TimeoutError after the limit."""
        parts = bytearray()
        while len(parts) < size:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            part = self._socket.recv(min(size - len(parts), 1 << 20))
            if not part:
                raise ConnectionError
            parts += part
        return bytes(parts)


_FLEXIBLE = 3  # the version of ApiVersions from which on it has features


def begin() -> None:
    """Import the client library, which is slow, and silence its own messages.

    Raises ModuleNotFoundError where it is not installed.
    """
    _library()
    logging.getLogger("kafka").setLevel(logging.CRITICAL)


def inferred_release(apis: Mapping[int, tuple[int, int]]) -> str:
    """The release whose versions of the APIs a broker has."""
    numbers = _library().versions.infer_broker_version_from_api_versions(dict(apis))
    return ".".join(map(str, numbers if len(numbers) > 2 or numbers[0] > 0 else (*numbers, 0)))


def _context(security: Security) -> ssl.SSLContext:
    """The settings of TLS. Raises SpecError (R0762) for certificates that cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = security.check_host
    what, path = "ssl.truststore.location", security.authorities
    try:
        if security.authorities or security.authorities_text:
            given = security.authorities_text or None
            context.load_verify_locations(security.authorities or None, cadata=given)
        else:
            context.load_default_certs()
        what, path = "ssl.keystore.location", security.identity
        if security.identity:
            context.load_cert_chain(security.identity, password=lambda: security.identity_password)
    except (OSError, ValueError) as error:
        is_missing = isinstance(error, FileNotFoundError)
        why = "is not there" if is_missing else "cannot be used: it has to be PEM, with a key that opens"
        message = f"the file of `{what}` {why}"
        raise SpecError([Diagnostic("R0762", Source(path or what, ""), None, message)]) from None
    return context


def _of_version(request: str, version: int, fields: Mapping[str, object]) -> dict[str, object]:
    """The fields that a version of a request has."""
    struct_ = _message(f"{request}Request")._struct  # noqa: SLF001 - it has no public name
    return {name: value for name, value in fields.items() if struct_.fields[name].for_version_q(version)}


def _message(name: str) -> Any:  # noqa: ANN401 - it has no types
    """The class of a message, which must be of a request that reads."""
    if name.removesuffix("Request").removesuffix("Response") not in READ_ONLY:
        raise AssertionError(f"{name} is none of the requests that read")
    return _library().messages[name]


@cache
def _library() -> SimpleNamespace:
    """The parts of the client library that are used, imported only to ask a cluster."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of its own
        import kafka.errors as errors  # noqa: PLC0415 - an extra, and slow to load
        import kafka.net.sasl as mechanisms  # noqa: PLC0415 - as above
        import kafka.protocol.admin as admin  # noqa: PLC0415 - as above
        import kafka.protocol.broker_version_data as versions  # noqa: PLC0415 - as above
        import kafka.protocol.metadata as metadata  # noqa: PLC0415 - as above
        import kafka.protocol.sasl as login  # noqa: PLC0415 - as above
    messages = {name: value for each in (metadata, admin, login) for name, value in vars(each).items()}
    return SimpleNamespace(errors=errors, mechanisms=mechanisms, versions=versions, messages=messages)
