"""Reads a line of JSON with a URL, and prints a line of JSON with the components
that libcurl finds, or with null if libcurl rejects the URL."""
import ctypes
import json
import sys

curl = ctypes.CDLL("libcurl.so.4")
curl.curl_url.restype = ctypes.c_void_p
curl.curl_url_cleanup.argtypes = [ctypes.c_void_p]
curl.curl_url_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
curl.curl_url_get.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint]
curl.curl_free.argtypes = [ctypes.c_void_p]

PARTS = {"scheme": 1, "user": 2, "password": 3, "host": 5, "port": 6, "path": 7, "query": 8, "fragment": 9}
NON_SUPPORT_SCHEME, PATH_AS_IS = 1 << 3, 1 << 4


def parse(url):
    handle = curl.curl_url()
    try:
        if curl.curl_url_set(handle, 0, url.encode(), NON_SUPPORT_SCHEME | PATH_AS_IS):
            return None
        found = {}
        for name, part in PARTS.items():
            text = ctypes.c_void_p()
            if curl.curl_url_get(handle, part, ctypes.byref(text), 0) == 0:
                found[name] = ctypes.string_at(text.value).decode("latin-1")
                curl.curl_free(text)
        return found
    finally:
        curl.curl_url_cleanup(handle)


for line in sys.stdin:
    print(json.dumps(parse(json.loads(line))), flush=True)
