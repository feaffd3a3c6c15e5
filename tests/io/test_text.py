"""Tables of text as R, spreadsheets and careless editors write them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from nullforest._util.errors import InputError
from nullforest.io import read_table

#: The same three samples in every layout: two features and a target.
X = [[1.5, 2.0], [3.25, -0.5], [0.125, 7.0]]
Y = ["u", "v", "u"]

LAYOUTS = {
    # write.csv2(data, row.names = FALSE)
    "csv2.csv": '"a";"b";"y"\n1,5;2;"u"\n3,25;-0,5;"v"\n0,125;7;"u"\n',
    # write.csv2(data)
    "csv2_rows.csv": '"";"a";"b";"y"\n"1";1,5;2;"u"\n"2";3,25;-0,5;"v"\n"3";0,125;7;"u"\n',
    # write.table(data)
    "table.txt": '"a" "b" "y"\n"1" 1.5 2 "u"\n"2" 3.25 -0.5 "v"\n"3" 0.125 7 "u"\n',
    # write.table(data, row.names = FALSE, quote = FALSE), aligned by hand
    "aligned.txt": "a     b    y\n1.5   2    u\n3.25  -0.5 v\n0.125 7    u\n",
    # write.table(data, dec = ",", sep = "\t")
    "comma.tsv": "a\tb\ty\n1\t1,5\t2\tu\n2\t3,25\t-0,5\tv\n3\t0,125\t7\tu\n",
    # A name with a comma in quotes is no separator.
    "quoted.csv": '"a";"b";"y, in words";"y"\n1,5;2;0;u\n3,25;-0,5;0;v\n0,125;7;0;u\n',
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_r_writes_is_read(name, tmp_path):
    path = tmp_path / name
    path.write_text(LAYOUTS[name])
    table = read_table(path, "y")
    assert table.feature_names.tolist() == ["a", "b"]
    assert table.X.tolist() == X
    assert table.y.tolist() == Y
    assert ("Numbers were read with a decimal comma." in table.notes) == ("1,5" in LAYOUTS[name])


def test_the_decimal_mark_can_be_given(tmp_path):
    path = tmp_path / "thousands.csv"
    path.write_text("a;y\n1,500;u\n2,250;v\n")
    assert read_table(path, "y").X.ravel().tolist() == [1.5, 2.25]
    assert read_table(path, "y", decimal=",").X.ravel().tolist() == [1.5, 2.25]
    with pytest.raises(InputError, match=r"holds text, '1,500' .* give --decimal ','"):
        read_table(path, "y", decimal=".")
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(InputError, match="leave out --decimal"):
        read_table(tmp_path / "x.npy", "0", decimal=",")


@pytest.mark.parametrize("head", ['"",s1,s2,s3', "gene,s1,s2,s3", "s1,s2,s3"])
def test_rows_may_be_features(head, tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text(f"{head}\na,1.5,3.25,0.125\nb,2,-0.5,7\ny,u,v,u\n")
    with pytest.raises(InputError, match=r"a row of .* give --transpose"):
        read_table(path, "y")
    table = read_table(path, "y", transpose=True)
    assert table.feature_names.tolist() == ["a", "b"]
    assert table.X.tolist() == X
    assert table.y.tolist() == Y
    assert table.sample_ids.tolist() == ["s1", "s2", "s3"]
    assert table.columns is None
    path.write_text(f"{head}\na,1,2,3\na,4,5,6\ny,u,v,u\n")
    with pytest.raises(InputError, match="names repeat"):
        read_table(path, "y", transpose=True)


def test_missing_values_and_decimal_commas_survive_the_exchange_of_rows_and_columns(tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text("gene;s1;s2;s3\na;1,5;NA;0,125\nb;2;-0,5;7\ny;1;2;3\n")
    table = read_table(path, "y", transpose=True)
    np.testing.assert_array_equal(table.X, [[1.5, 2], [np.nan, -0.5], [0.125, 7]])
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(InputError, match="leave out --transpose"):
        read_table(tmp_path / "x.npy", "0", transpose=True)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id,y,a,c,b\np,u,1,7,2\nq,v,3,7,5\nr,u,4,7,1\n", [2, 4]),
        (",y,a,b\np,u,1,2\nq,v,3,5\nr,u,4,1\n", [2, 3]),
        ("y,a,b\np,u,1,2\nq,v,3,5\nr,u,4,1\n", [2, 3]),
    ],
)
def test_features_know_their_place_in_the_file(text, columns, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(text)
    table = read_table(path, "y", ids="id" if text.startswith("id") else None)
    assert table.feature_names.tolist() == ["a", "b"]
    assert table.columns.tolist() == columns


def test_a_stray_quote_in_the_header_is_said(tmp_path):
    path = tmp_path / "stray.csv"
    for rows in (3, 30, 30_000):
        path.write_text('a,"b,y\n' + "1.5,2.5,u\n" * rows)
        with pytest.raises(InputError, match="quote that is not closed"):
            read_table(path, "y")
    path.write_text('5" pipe,b,y\n1,2,u\n3,4,v\n')  # within a name it is only a letter
    assert read_table(path, "y").feature_names.tolist() == ['5" pipe', "b"]


def test_all_digits_are_read(tmp_path):
    values = np.random.default_rng(0).normal(size=2000)
    path = tmp_path / "digits.csv"
    path.write_text("a,y\n" + "\n".join(f"{v!r},{i % 2}" for i, v in enumerate(values.tolist())))
    np.testing.assert_array_equal(read_table(path, "y").X[:, 0], values)


FUZZ = """
import sys
from nullforest._util.errors import InputError
from nullforest.io import read_table
for number, cell in enumerate(eval(sys.stdin.read())):
    texts = f"a,y\\n{cell},u\\n2,v\\n", f"a;y\\n1,5;u\\n{cell};v\\n", f"a,y\\n1,{cell}\\n2,3\\n"
    for text in texts:
        path = f"{sys.argv[1]}/{number}.csv"
        open(path, "w", encoding="utf-8", errors="surrogateescape").write(text)
        for transpose in (False, True):
            try:
                read_table(path, "y", transpose=transpose)
            except InputError:
                pass
print("survived")
"""


def test_no_cell_ends_the_process(tmp_path):
    cells = [f"{sign}3e{sign_}{2**bits + more}" for bits in (31, 32, 63, 64) for more in (-1, 0, 1)
             for sign in ("", "-") for sign_ in ("", "-")]  # fmt: skip
    cells += ["1" * 400, "." + "0" * 400 + "1", "1e", "1e+", "--1", "0x1p9999", "nan", "inf", "1_0"]
    cells += [
        '"',
        '""',
        "'",
        "\\",
        "\t",
        "\x00",
        "\x1b[2J",
        "1e309",
        "-0",
        "١",
        "½",
        "1,2,3",
        "[1]",
    ]
    rng = np.random.default_rng(1)
    alphabet = list("0123456789eE+-.,;\"' \tnaif_x\u00e9")
    cells += ["".join(rng.choice(alphabet, rng.integers(1, 25))) for _ in range(150)]
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, str(tmp_path)],
        input=repr(cells),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "survived"), done.stderr
