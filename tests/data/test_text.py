"""Tables of text as R, spreadsheets and careless editors write them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from nullforest._util.errors import InputError
from nullforest.data.readers.tables import read_table

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
    "quoted.csv": '"a";"b, in words";"y"\n1,5;2;u\n3,25;-0,5;v\n0,125;7;u\n',
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_r_writes_is_read(name, tmp_path):
    path = tmp_path / name
    path.write_text(LAYOUTS[name])
    table = read_table(path, "y")
    names = ["a", "b, in words" if name == "quoted.csv" else "b"]
    assert table.feature_names.tolist() == names
    assert table.table.values.tolist() == X
    assert table.target.labels.tolist() == Y
    assert ("Numbers were read with a decimal comma." in table.notes) == ("1,5" in LAYOUTS[name])


def test_the_decimal_mark_can_be_given(tmp_path):
    path = tmp_path / "thousands.csv"
    path.write_text("a;y\n1,500;u\n2,250;v\n")
    assert read_table(path, "y").table.values.ravel().tolist() == [1.5, 2.25]
    assert read_table(path, "y", decimal=",").table.values.ravel().tolist() == [1.5, 2.25]
    with pytest.raises(InputError, match=r'holds text, .1,500. .* decimal=","'):
        _ = read_table(path, "y", decimal=".").table
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(InputError, match="leave out decimal="):
        read_table(tmp_path / "x.npy", "0", decimal=",")


@pytest.mark.parametrize("head", ['"",s1,s2,s3', "gene,s1,s2,s3", "s1,s2,s3"])
def test_rows_may_be_features(head, tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text(f"{head}\na,1.5,3.25,0.125\nb,2,-0.5,7\ny,u,v,u\n")
    with pytest.raises(InputError, match=r"a row of .* give transpose="):
        read_table(path, "y")
    table = read_table(path, "y", transpose=True)
    assert table.feature_names.tolist() == ["a", "b"]
    assert table.table.values.tolist() == X
    assert table.target.labels.tolist() == Y
    assert table.sample_ids.tolist() == ["s1", "s2", "s3"]
    assert table.columns is None
    path.write_text(f"{head}\na,1,2,3\na,4,5,6\ny,u,v,u\n")
    with pytest.raises(InputError, match="names repeat"):
        read_table(path, "y", transpose=True)


def test_missing_values_and_decimal_commas_survive_the_exchange_of_rows_and_columns(tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text("gene;s1;s2;s3\na;1,5;NA;0,125\nb;2;-0,5;7\ny;1;2;3\n")
    table = read_table(path, "y", transpose=True)
    np.testing.assert_array_equal(table.table.values, [[1.5, 2], [np.nan, -0.5], [0.125, 7]])
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(InputError, match="leave out transpose="):
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
    named = text.startswith("id")
    table = read_table(path, "y", ids="id" if named else None, drop=["c"] if named else [])
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
    np.testing.assert_array_equal(read_table(path, "y").table.values[:, 0], values)


FUZZ = """
import sys
from nullforest._util.errors import InputError
from nullforest.data.readers.tables import read_table
for number, cell in enumerate(eval(sys.stdin.read())):
    texts = f"a,y\\n{cell},u\\n2,v\\n", f"a;y\\n1,5;u\\n{cell};v\\n", f"a,y\\n1,{cell}\\n2,3\\n"
    for text in texts:
        path = f"{sys.argv[1]}/{number}.csv"
        open(path, "w", encoding="utf-8", errors="surrogateescape").write(text)
        for transpose in (False, True):
            try:
                _ = read_table(path, "y", transpose=transpose).table
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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_unicode_text_of_a_spreadsheet_is_read(encoding, tmp_path):
    path = tmp_path / "excel.txt"  # "Unicode text" of Excel: UTF-16, tabs, decimal comma
    text = "Größe\tb\ty\r\n1,5\t2\tu\r\n3,25\t-0,5\tv\r\n0,125\t7\tu\r\n"
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    path.write_bytes(mark + text.encode(encoding))
    table = read_table(path, "y")
    assert table.feature_names.tolist() == ["Größe", "b"]
    assert table.table.values.tolist() == X
    assert table.target.labels.tolist() == Y
    path.write_text(f"s\t{text.splitlines()[0]}\nTP53\t1\t2\t3\nill\ty\tn\ty\n", "utf-16")
    with pytest.raises(InputError, match=r"'ill' is a row .* give transpose="):
        read_table(path, "ill")


def _genes_by_samples(folder, samples=8):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.normal(size=(100, samples)),
        index=[f"ENSG{i}" for i in range(100)],
        columns=[f"s{i}" for i in range(samples)],
    )
    frame.to_csv(folder / "genes.csv")
    about = pd.DataFrame({"sample": frame.columns[::-1], "ill": list("yn") * (samples // 2)})
    about.to_csv(folder / "samples.csv", index=False)
    return frame, about


def test_genes_in_rows_are_recognised_and_joined_with_the_samples(tmp_path):
    frame, about = _genes_by_samples(tmp_path)
    with pytest.raises(InputError, match=r"genes × samples: 100 named rows .* sample_table="):
        read_table(tmp_path / "genes.csv", "ill")
    table = read_table(
        *(tmp_path / "genes.csv", "ill"), transpose=True, sample_table=tmp_path / "samples.csv"
    )
    np.testing.assert_array_equal(table.table.values, frame.T.to_numpy())
    assert table.feature_names.tolist() == list(frame.index)
    assert table.sample_ids.tolist() == list(frame.columns)
    assert (
        table.target.labels.tolist() == about.set_index("sample").loc[frame.columns, "ill"].tolist()
    )
    with pytest.raises(InputError, match=r"obs_filter= needs a table of samples"):
        read_table(tmp_path / "samples.csv", "ill", obs_filter="ill == 'y'")
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(InputError, match="does not name its samples"):
        read_table(numbers, "ill", sample_table=tmp_path / "samples.csv")


def test_samples_on_one_side_only_are_refused_or_left_out(tmp_path):
    frame, about = _genes_by_samples(tmp_path)
    about.iloc[1:].replace("s0", "s99").to_csv(tmp_path / "samples.csv", index=False)
    given = {"transpose": True, "sample_table": tmp_path / "samples.csv"}
    with pytest.raises(InputError, match=r"2 samples have no row .*: 's0', 's7'; 1 sample has a"):
        read_table(tmp_path / "genes.csv", "ill", **given)
    table = read_table(tmp_path / "genes.csv", "ill", matched_only=True, **given)
    assert table.sample_ids.tolist() == [f"s{i}" for i in range(1, 7)]
    np.testing.assert_array_equal(table.table.values, frame.T.to_numpy()[1:7])
    assert any(note.startswith("Left out: 2 samples have no row") for note in table.notes)
    about.assign(sample="s1").to_csv(tmp_path / "samples.csv", index=False)
    with pytest.raises(InputError, match="'s1' occurs more than once"):
        read_table(tmp_path / "genes.csv", "ill", **given)
    about.assign(sample=[f"q{i}" for i in range(8)]).to_csv(tmp_path / "samples.csv", index=False)
    with pytest.raises(InputError, match="No sample of the data"):
        read_table(tmp_path / "genes.csv", "ill", matched_only=True, **given)
