FROM tollgate-test/base
ENTRYPOINT ["prometheus"]
