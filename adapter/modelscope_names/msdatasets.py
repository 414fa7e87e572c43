"""ModelScope's MsDataset, over a data set of the package ``datasets``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch.utils.data import Dataset

from adapter.data.dataset import wrap_dataset
from adapter.data.named import load_named


class MsDataset(Dataset[Any]):
    """Rows with named columns.

    Args:
        ds_instance: The data set it stands for.

    Attributes:
        ds_instance: The same.
    """

    def __init__(self, ds_instance: Any) -> None:
        self.ds_instance = ds_instance

    def __len__(self) -> int:
        return len(self.ds_instance)

    def __getitem__(self, key: Any) -> Any:
        return self.ds_instance[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.ds_instance)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """The rows of several numbers, one by one: a data set's own way may collate them."""
        return [self.ds_instance[index] for index in indices]

    @staticmethod
    def load(
        dataset_name: str | Sequence[Any],
        namespace: str = "modelscope",
        subset_name: str | None = None,
        split: str | None = None,
        **options: Any,
    ) -> Any:
        """Data by name: a local file, a local folder with splits, or data of ModelScope's hub when it is installed.

        Args:
            dataset_name: The name, or a list of samples.
            namespace: Owner of the data on the hub.
            subset_name: Subset of the data; None for the only one.
            split: Part of the data, such as ``train``.
            options: Other arguments, of data on the hub.

        Raises:
            ConfigError: They cannot be found or read.
        """
        if not isinstance(dataset_name, str):
            return MsDataset(list(dataset_name))
        hub = {"namespace": namespace, **options}
        return MsDataset(load_named(dataset_name, split or "train", subset_name, options=hub))

    @classmethod
    def to_ms_dataset(cls, ds_instance: Any, target: str | None = None) -> Any:
        """A data set of the package ``datasets`` as MsDataset; a mapping of splits as a mapping of them."""
        if isinstance(ds_instance, Mapping):
            return {split: cls.to_ms_dataset(rows) for split, rows in ds_instance.items()}
        return cls(ds_instance)

    from_hf_dataset = to_ms_dataset

    def to_hf_dataset(self) -> Any:
        """The data set it stands for."""
        return self.ds_instance

    def remap_columns(self, column_mapping: Mapping[str, str]) -> Any:
        """The data set with columns renamed."""
        return self.ds_instance.rename_columns(dict(column_mapping))

    def to_torch_dataset(
        self,
        columns: str | Sequence[str] | None = None,
        preprocessors: Callable[[Any], Any] | Sequence[Callable[[Any], Any]] | None = None,
        **options: Any,
    ) -> Any:
        """The rows for a torch data loader.

        Args:
            columns: Columns that are kept; None keeps all.
            preprocessors: Each gets a row; what they return is put together.
            options: No effect.
        """
        rows = self.ds_instance
        if columns is not None:
            rows = rows.select_columns([columns] if isinstance(columns, str) else list(columns))
        steps = [preprocessors] if callable(preprocessors) else list(preprocessors or [])
        if not steps:
            return MsDataset(rows)
        return wrap_dataset(rows, lambda row: {name: value for step in steps for name, value in step(row).items()})
